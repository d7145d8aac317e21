"""Accountant on privacy loss distributions: the law of the log likelihood ratio on a grid, convolved by FFT.

Claim. The epsilon is an upper bound: every mass is moved to a loss that is at least its own (pessimistic rounding), the cut
tails count as infinite loss. A finer grid only lowers the answer. The FFT itself is not pessimistic: against the exact
formula, k-fold powers were seen to lose up to 3e-17 * k of delta, which at delta 1e-12 and 100,000 draws prints an epsilon
of 7.46 where 7.67 is true. So 1e-15 * k of the delta asked for is set aside, and what is left is what the grid is read at.

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

import functools
import math
import warnings
from typing import Any

from textveil.core import Adjacency
from textveil.core.params import positive

from .accountant import DrawAccountant, plain_multiplier
from .draws import Draw, Draws, GaussianDraw, PureDraw, sensitivity
from .rdp import RDP

GRID = 1e-4
_MOST_POINTS = 1_000_000  # of one draw's distribution; a coarser grid keeps memory and time bounded, and stays a bound
_STEPS_PER_EPSILON = 100_000
_FFT_LOSS = 1e-15  # of delta, for every draw that is convolved
_FEW_ORDERS = (1.5, 2, 4, 8, 16, 32, 64, 256)
_COARSEST = 1.0  # a grid beyond it would say nothing; the answer is infinity, which is a bound
_LARGEST_PURE = 500.0  # exp(epsilon) must stay well within double precision


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
        if max((d.epsilon for d in draws if isinstance(d, PureDraw)), default=0.0) > _LARGEST_PURE:
            return math.inf
        convolved = sum(n for d, n in draws.items() if not (isinstance(d, GaussianDraw) and d.sampler == "none"))
        left = delta - _FFT_LOSS * (1 + convolved)
        grid = max(self.grid, self._coarsest(draws, delta))
        if grid > _COARSEST or left <= 0:
            return math.inf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # exp of extreme losses, rounded to 0 or infinity as meant
            answer = float(self._distribution(draws, grid).get_epsilon_for_delta(left))
        return answer if answer >= 0 else math.inf

    def _coarsest(self, draws: Draws, delta: float) -> float:
        """The grid that the widest draw and the size of the answer call for. It decides the effort, never the validity."""
        factor = sensitivity(self.adjacency)
        shifts = [factor / d.multiplier for d in draws if isinstance(d, GaussianDraw)]
        spread = max((w * w + 21 * w for w in shifts), default=0.0)
        size = factor**2 * RDP(_FEW_ORDERS)._cost(draws, delta)  # as for add/remove, whose order of magnitude it shares
        return max(spread / _MOST_POINTS, size / _STEPS_PER_EPSILON)

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
        return _gaussian(multiplier, rate, grid, self.adjacency is Adjacency.REPLACE)


@functools.lru_cache(maxsize=8)  # the same draw is read at several deltas and counts
def _gaussian(multiplier: float, rate: float, grid: float, replace: bool) -> Any:
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_gaussian_mechanism(
        multiplier,
        pessimistic_estimate=True,
        value_discretization_interval=grid,
        sampling_prob=rate,
        neighboring_relation=NeighboringRelation.REPLACE_ONE if replace else NeighboringRelation.ADD_OR_REMOVE_ONE,
    )
