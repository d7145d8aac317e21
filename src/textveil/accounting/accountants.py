"""The accountants by name, and the best of them.

exact         plain Gaussian draws only: the analytic formula
pld           privacy loss distributions on a grid, rounded pessimistically: an upper bound
rdp           Renyi divergences over a grid of orders, tight conversion
rdp-classic   the same divergences under the older conversion
best          exact where it applies, else the smaller of pld and rdp (each is a bound, so the smaller is one)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from textveil.core import Adjacency, BadInput, Event, UnknownName

from .accountant import Accountant, DrawAccountant, Exact
from .draws import Draw, Draws, StatedDraw
from .pld import GRID, PLD
from .rdp import ORDERS, RDP, ClassicRDP

__all__ = ["ORDERS", "PLD", "RDP", "Accountant", "Best", "ClassicRDP", "Exact", "Priced", "accountant"]

_FINEST_GRID = 1e-6
T = TypeVar("T", bound=DrawAccountant)


@dataclass(frozen=True)
class Priced:
    """An epsilon, who gave it, and what to know about it."""

    epsilon: float
    accountant: str
    notes: tuple[str, ...] = ()


class Best(DrawAccountant):
    """The smallest bound among those that apply. PLD's grid is refined while PLD comes out above RDP.

    >>> from textveil.core import Adjacency, Event, GaussianNoise, Unit
    >>> best = Best().compose(Event(GaussianNoise(1.0), Unit.USER, Adjacency.ADD_REMOVE))
    >>> best.read(1e-5).accountant
    'exact'
    """

    name = "best"

    def __init__(self, grid: float = GRID) -> None:
        super().__init__()
        self.grid = grid

    def read(self, delta: float) -> Priced:
        """The answer with its origin."""
        epsilon = self.epsilon(delta)
        return Priced(epsilon, self._last.accountant, self._last.notes)

    def _refuses(self, draw: Draw, adjacency: Adjacency) -> str:
        reasons = [tool._refuses(draw, adjacency) for tool in (PLD(), RDP())]
        return "" if "" in reasons else reasons[0]

    def _check(self, event: Event) -> Draws:
        found = super()._check(event)
        joint = [d for d in (self.draws + found) if not isinstance(d, StatedDraw)]
        if not any(_covers(tool, joint, event.adjacency) for tool in (PLD(), RDP())):
            raise BadInput("these draws have prices one by one, but no accountant covers all of them together")
        return found

    def _rest(self, draws: Draws, delta: float) -> float:
        self._last = Priced(0.0, "sum")
        return super()._rest(draws, delta)

    def _cost(self, draws: Draws, delta: float) -> float:
        self._last = self._cheapest(draws, delta)
        return self._last.epsilon

    def _cheapest(self, draws: Draws, delta: float) -> Priced:
        if (exact := self._with(Exact(), draws)) is not None:
            return Priced(exact._cost(draws, delta), exact.name)
        found = []
        rdp = self._with(RDP(), draws)
        if rdp is not None:
            found.append(Priced(rdp._cost(draws, delta), rdp.name, rdp.notes(delta)))
        ceiling = found[0].epsilon if found else math.inf
        grid = self.grid
        while (pld := self._with(PLD(grid), draws)) is not None:
            found.append(Priced(pld._cost(draws, delta), pld.name))
            grid /= 10
            if found[-1].epsilon <= ceiling or grid < _FINEST_GRID:
                break
        return min(found, key=lambda p: p.epsilon)

    def _with(self, tool: T, draws: Draws) -> T | None:
        if not _covers(tool, draws, self.adjacency):
            return None
        tool.draws, tool.question = draws, self.question
        return tool


def _covers(tool: DrawAccountant, draws: Iterable[Draw], adjacency: Adjacency) -> bool:
    return not any(tool._refuses(draw, adjacency) for draw in draws)


ACCOUNTANTS: dict[str, Callable[[], DrawAccountant]] = {
    "best": Best,
    "exact": Exact,
    "pld": PLD,
    "rdp": RDP,
    "rdp-classic": ClassicRDP,
}


def accountant(name: str) -> DrawAccountant:
    """A fresh accountant by name.

    >>> accountant("pld").name
    'pld'
    """
    if name not in ACCOUNTANTS:
        raise UnknownName("accountant", name, ACCOUNTANTS)
    return ACCOUNTANTS[name]()
