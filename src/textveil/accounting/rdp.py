"""Accountants on Renyi divergences: a curve over orders, added draw by draw and converted to (epsilon, delta).

Claim. Renyi divergences of one order add under composition, and each order a gives a valid epsilon:

    tight     epsilon = r + ln(1 - 1/a) - ln(delta a) / (a - 1)     (Canonne, Kamath, Steinke 2020, proposition 12)
    classic   epsilon = r + ln(1/delta) / (a - 1)                   (Mironov 2017, proposition 3)

Their minimum over the grid of orders is a bound, and a smaller grid only weakens it. A best order at the end of the grid
means that the answer is the grid's, not the data's: with orders up to 512 the classic rule never prints less than
ln(1/delta) / 511, which is .0225 at delta 1e-5. `notes` says so.

What dp-accounting is told, m being the multiplier relative to the bound C on one contribution:
- plain: the divergence is a (factor/m)^2 / 2, written here (dp-accounting prices replace-one like add/remove).
- Poisson under add/remove or zero-out: m as it is. Poisson under replace-one has no price here.
- fixed size: m / 2. The bound (Wang, Balle, Kasiviswanathan 2019, theorem 27) is written in the divergence of the unsampled
  mechanism under replace-one, a / (2 s^2) with s = noise / sensitivity, and that sensitivity is 2C.
- a pure draw of epsilon e: e^2/2 zCDP (Bun, Steinke 2016), never above e.
Sampled curves are rounded up by 1e-13 a draw: sums of logarithms can lose that much, and a rounded 0 would be a promise.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from textveil.core import Adjacency, BadInput

from .accountant import DrawAccountant
from .draws import Draw, Draws, GaussianDraw, PureDraw, sensitivity

Orders = tuple[float, ...]
ORDERS: Orders = (
    *(1 + x / 10 for x in range(1, 100)),
    *(float(x) for x in range(11, 65)),
    *(float(2**x) for x in range(7, 13)),
)
CLASSIC_ORDERS: Orders = (1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, *map(float, range(5, 64)), 128, 256, 512)
ROUNDING = 1e-13
LOOSE = (
    "batches of a fixed size are priced by a general bound that can be many times the true loss (155 was seen where the true "
    "loss is at least 15.5); Poisson sampling is priced tightly"
)


class RDP(DrawAccountant):
    """Renyi divergences with the tight conversion.

    >>> from textveil.core import Adjacency, Event, GaussianNoise, PoissonSampled, Unit
    >>> step = PoissonSampled(1 / 14041, GaussianNoise(1.0))
    >>> training = Event(step, Unit.EXAMPLE, Adjacency.ADD_REMOVE, times=140410)
    >>> round(RDP().compose(training).epsilon(1e-5), 3), round(ClassicRDP().compose(training).epsilon(1e-5), 3)
    (0.461, 0.688)
    """

    name = "rdp"

    def __init__(self, orders: Sequence[float] = ORDERS) -> None:
        super().__init__()
        self.orders: Orders = tuple(sorted(float(a) for a in orders))
        if not self.orders or self.orders[0] <= 1:
            raise BadInput("the orders of a Renyi accountant are above 1")

    def best_order(self, delta: float) -> float:
        """The order that gave the answer."""
        return self.orders[int(np.argmin(self._epsilons(self.draws, delta)))]

    def at_edge(self, delta: float) -> bool:
        """True when the best order is the first or last of the grid."""
        return bool(self.draws) and self.best_order(delta) in (self.orders[0], self.orders[-1])

    def notes(self, delta: float) -> tuple[str, ...]:
        """What a reader of the answer should know."""
        notes = [LOOSE] if any(isinstance(d, GaussianDraw) and d.sampler == "fixed" for d in self.draws) else []
        if self.at_edge(delta):
            order = f"{self.best_order(delta):g}"
            notes.append(f"the best order is at the edge of the grid ({order}): the true loss may be smaller")
        return tuple(notes)

    def _refuses(self, draw: Draw, adjacency: Adjacency) -> str:
        match draw:
            case GaussianDraw("poisson") if adjacency is Adjacency.REPLACE:
                return "Poisson sampling under 'replace' (the pld accountant has)"
            case GaussianDraw() | PureDraw():
                return ""
        return f"draws of kind '{type(draw).__name__}'"

    def _cost(self, draws: Draws, delta: float) -> float:
        return max(0.0, float(np.min(self._epsilons(draws, delta))))

    def _epsilons(self, draws: Draws, delta: float) -> np.ndarray:
        curve, orders = self.curve(draws), np.array(self.orders)
        with np.errstate(invalid="ignore"):
            epsilons = self._convert(orders, curve, delta)
        return np.where(np.isfinite(curve) & (curve >= 0), epsilons, np.inf)

    def _convert(self, orders: np.ndarray, curve: np.ndarray, delta: float) -> np.ndarray:
        return curve + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)

    def curve(self, draws: Draws | None = None) -> np.ndarray:
        """The joint Renyi divergence at every order."""
        factor, total = sensitivity(self.adjacency), np.zeros(len(self.orders))
        for draw, count in sorted((self.draws if draws is None else draws).items(), key=repr):
            match draw:
                case GaussianDraw("none", _, multiplier):
                    total += count * np.array(self.orders) * (factor / multiplier) ** 2 / 2
                case GaussianDraw(sampler, rate, multiplier):
                    total += count * (sampled_curve(sampler, rate, multiplier, self.orders) + ROUNDING)
                case PureDraw(epsilon):
                    total += count * np.minimum(epsilon, np.array(self.orders) * epsilon**2 / 2)
        return total


class ClassicRDP(RDP):
    """Renyi divergences with the older, looser conversion and grid, for comparison with printed figures."""

    name = "rdp-classic"

    def __init__(self, orders: Sequence[float] = CLASSIC_ORDERS) -> None:
        super().__init__(orders)

    def _convert(self, orders: np.ndarray, curve: np.ndarray, delta: float) -> np.ndarray:
        return curve - math.log(delta) / (orders - 1)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Orders whose series does not converge come back infinite and are left out; users need not read about each."""
    log = logging.getLogger("absl")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


@functools.lru_cache(maxsize=256)
def sampled_curve(sampler: str, rate: float, multiplier: float, orders: Orders) -> np.ndarray:
    import dp_accounting as dp

    gaussian = dp.GaussianDpEvent(multiplier if sampler == "poisson" else multiplier / 2)
    if sampler == "poisson":
        return _curve_of(dp.PoissonSampledDpEvent(rate, gaussian), dp.NeighboringRelation.ADD_OR_REMOVE_ONE, orders)
    batch, population = rate.as_integer_ratio()  # only their ratio is used
    event = dp.SampledWithoutReplacementDpEvent(population, batch, gaussian)
    # The bound is for whole orders; between them (order - 1) * divergence is convex, so a straight line bounds it.
    whole = tuple(sorted({float(f(a)) for a in orders for f in (math.floor, math.ceil)} - {1.0}))
    curve = _curve_of(event, dp.NeighboringRelation.REPLACE_ONE, whole)
    moments = np.interp(orders, (1.0, *whole), (0.0, *((np.array(whole) - 1) * curve)))
    return moments / (np.array(orders) - 1)


def _curve_of(event: Any, relation: Any, orders: Orders) -> np.ndarray:
    from dp_accounting import rdp

    tool = rdp.RdpAccountant(orders, relation)
    with _quiet():
        tool.compose(event)
    return np.array(tool._rdp)  # the curve has no public name; a test compares it with the formula
