"""Accountant on privacy loss distributions: the law of the log likelihood ratio on a grid, convolved by FFT.

Claim. The epsilon is an upper bound: every mass is moved to a loss that is at least its own (pessimistic rounding), the cut
tails count as infinite loss. A finer grid only lowers the answer.

What dp-accounting is told, m being the multiplier relative to the bound C on one contribution:
- add/remove and zero-out, plain or Poisson: m as it is, sensitivity C.
- replace-one, plain or Poisson: m as it is under REPLACE_ONE. Its pair is (1-q) N(0) + q N(C) against (1-q) N(0) + q N(-C),
  so the factor 2 is inside. The pair dominates: by advanced joint convexity (Balle, Barthe, Gaboardi 2018) the divergence
  is q times that of N(u) from a mixture of N(0) and N(v), whose distances from u are at most C and 2C, and such a mixture is
  dominated by the one-dimensional one with the largest distances (Choquette-Choo et al. 2024, on matrix mechanisms).
- a pure draw of epsilon e: the pair that dominates every e-private mechanism (Kairouz, Oh, Viswanath 2015).
Fixed-size sampling has no price here.
Source. Koskela et al. 2020; Doroshenko et al. 2022 ("Connect the dots"), implemented by dp-accounting.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import Any

from textveil.core import Adjacency
from textveil.core.params import positive

from .accountant import DrawAccountant, plain_multiplier
from .draws import Draw, Draws, GaussianDraw, PureDraw, sensitivity
from .rdp import RDP

GRID = 1e-4
_MOST_POINTS = 1_000_000  # of one draw's distribution; a coarser grid keeps memory and time bounded, and stays a bound
_STEPS_PER_EPSILON = 100_000
_FEW_ORDERS = (1.5, 2, 4, 8, 16, 32, 64, 256)
_LARGEST = 500.0  # an epsilon beyond which exp(epsilon) nears the end of double precision, and the answer is infinity


class PLD(DrawAccountant):
    """Privacy loss distributions; `grid` is the finest distance between two losses.

    >>> from textveil.core import Adjacency, Event, GaussianNoise, PoissonSampled, Unit
    >>> step = PoissonSampled(32 / 14041, GaussianNoise(1.0))
    >>> training = Event(step, Unit.EXAMPLE, Adjacency.ADD_REMOVE, times=4388)
    >>> round(PLD().compose(training).epsilon(1e-5), 3)
    0.762
    """

    name = "pld"

    def __init__(self, grid: float = GRID) -> None:
        super().__init__()
        self.grid = positive("grid", grid)

    def _refuses(self, draw: Draw, adjacency: Adjacency) -> str:
        match draw:
            case GaussianDraw("fixed"):
                return "sampling of a fixed size (the rdp accountant has)"
            case GaussianDraw() | PureDraw():
                return ""
        return f"draws of kind '{type(draw).__name__}'"

    def _cost(self, draws: Draws, delta: float) -> float:
        size = self._rough_size(draws, delta)
        if size > _LARGEST:
            return math.inf
        spreads = [w * w + 21 * w for w in self._shifts(draws)]
        grid = max(self.grid, size / _STEPS_PER_EPSILON, max(spreads, default=0.0) / _MOST_POINTS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # exp of extreme losses, rounded to 0 or infinity as meant
            answer = float(self._distribution(draws, grid).get_epsilon_for_delta(delta))
        return answer if answer >= 0 else math.inf

    def _shifts(self, draws: Draws) -> list[float]:
        factor = sensitivity(self.adjacency)
        return [factor / d.multiplier for d in draws if isinstance(d, GaussianDraw)]

    def _rough_size(self, draws: Draws, delta: float) -> float:
        """The order of magnitude of the answer, from Renyi divergences; it only chooses the grid."""
        factor = sensitivity(self.adjacency)
        scaled: Draws = Counter()
        for draw, count in draws.items():
            if isinstance(draw, GaussianDraw):
                scaled[GaussianDraw(draw.sampler, draw.rate, draw.multiplier / factor)] += count
            else:
                scaled[draw] += count
        return RDP(_FEW_ORDERS)._cost(scaled, delta)

    def _distribution(self, draws: Draws, grid: float) -> Any:
        from dp_accounting.pld import common
        from dp_accounting.pld import privacy_loss_distribution as pld

        total = pld.identity(value_discretization_interval=grid)
        plain = {d: n for d, n in draws.items() if isinstance(d, GaussianDraw) and d.sampler == "none"}
        if plain:
            total = total.compose(self._gaussian(plain_multiplier(draws), 1.0, grid))
        for draw, count in draws.items():
            match draw:
                case GaussianDraw("poisson", rate, multiplier):
                    total = total.compose(self._gaussian(multiplier, rate, grid).self_compose(count))
                case PureDraw(epsilon):
                    known = common.DifferentialPrivacyParameters(epsilon, 0.0)
                    one = pld.from_privacy_parameters(known, value_discretization_interval=grid)
                    total = total.compose(one.self_compose(count))
        return total

    def _gaussian(self, multiplier: float, rate: float, grid: float) -> Any:
        from dp_accounting import NeighboringRelation
        from dp_accounting.pld import privacy_loss_distribution as pld

        replace = self.adjacency is Adjacency.REPLACE
        relation = NeighboringRelation.REPLACE_ONE if replace else NeighboringRelation.ADD_OR_REMOVE_ONE
        return pld.from_gaussian_mechanism(
            multiplier,
            pessimistic_estimate=True,
            value_discretization_interval=grid,
            sampling_prob=rate,
            neighboring_relation=relation,
        )
