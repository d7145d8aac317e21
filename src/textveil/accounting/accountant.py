"""The interface of accountants: what many draws on the same data reveal together, as an epsilon at a given delta.

    exact         plain Gaussian draws only: the analytic formula
    pld           privacy loss distributions on a grid (dp-accounting), rounded pessimistically: an upper bound
    rdp           Renyi divergences over a grid of orders, converted by Canonne, Kamath, Steinke 2020 (proposition 12)
    rdp-classic   the same divergences under the older conversion, epsilon = rdp + ln(1/delta) / (order - 1)
    best          exact where it applies, else the smaller of pld and rdp (both are bounds, so their minimum is one)

All share one interface (`Accountant`), and `textveil.testing.check_accountant` holds any implementation to its laws. An
event that an accountant cannot price is refused by `compose`, before anything is changed; nothing is skipped.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Protocol, Self, runtime_checkable

from textveil.core import Adjacency, BadInput, CannotAdd, Event, TextveilError, Unit
from textveil.core.params import fraction

from .conversion import gaussian_epsilon
from .draws import Draw, Draws, GaussianDraw, PureDraw, StatedDraw, draws_of, joint_multiplier, sensitivity


@runtime_checkable
class Accountant(Protocol):
    """Adds up events on one unit under one adjacency, and reads the sum at any delta."""

    @property
    def name(self) -> str: ...

    def supports(self, event: Event) -> bool:
        """True when `compose` would take this event."""

    def compose(self, event: Event) -> Self:
        """Add an event, or raise BadInput (cannot be priced) or CannotAdd (another unit or adjacency)."""

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon known at this delta; infinite when there is none."""


class DrawAccountant:
    """Keeps draws in canonical form; a subclass says which it covers and what they cost together.

    Stated promises add: their epsilon to the answer, their delta against the delta asked for.
    """

    name = ""

    def __init__(self) -> None:
        self.draws: Draws = Counter()
        self.question: tuple[Unit, Adjacency] | None = None

    @property
    def adjacency(self) -> Adjacency:
        return self.question[1] if self.question else Adjacency.ADD_REMOVE

    def supports(self, event: Event) -> bool:
        try:
            self._check(event)
        except TextveilError:
            return False
        return True

    def compose(self, event: Event) -> Self:
        found = self._check(event)
        self.draws, self.question = self.draws + found, (event.unit, event.adjacency)
        return self

    def epsilon(self, delta: float) -> float:
        fraction("delta", delta)
        stated = {d: n for d, n in self.draws.items() if isinstance(d, StatedDraw)}
        rest = Counter({d: n for d, n in sorted(self.draws.items(), key=repr) if d not in stated})
        left = delta - math.fsum(d.delta * n for d, n in stated.items())
        if left < 0:
            return math.inf
        return math.fsum(d.epsilon * n for d, n in stated.items()) + self._rest(rest, left)

    def _rest(self, draws: Draws, delta: float) -> float:
        if not draws:
            return 0.0
        pure = math.fsum(d.epsilon * n for d, n in draws.items() if isinstance(d, PureDraw))
        plain_sum = pure if all(isinstance(d, PureDraw) for d in draws) else math.inf
        return min(plain_sum, self._cost(draws, delta)) if delta > 0 else plain_sum

    def _check(self, event: Event) -> Draws:
        if self.question not in (None, (event.unit, event.adjacency)):
            raise CannotAdd(f"the {self.name} accountant holds events of another unit or adjacency")
        found = draws_of(event)
        for draw in found:
            if not isinstance(draw, StatedDraw) and (why := self._refuses(draw, event.adjacency)):
                raise BadInput(f"the {self.name} accountant has no price for {why}")
        return found

    def _refuses(self, draw: Draw, adjacency: Adjacency) -> str:
        """What the accountant does not cover, in words; empty when it does."""
        raise BadInput(f"the {self.name or 'base'} accountant covers nothing")

    def _cost(self, draws: Draws, delta: float) -> float:
        raise BadInput(f"the {self.name or 'base'} accountant covers nothing")


class Exact(DrawAccountant):
    """Plain Gaussian draws: composed to one mu, read by the analytic formula."""

    name = "exact"

    def _refuses(self, draw: Draw, adjacency: Adjacency) -> str:
        plain = isinstance(draw, GaussianDraw) and draw.sampler == "none"
        return "" if plain else "anything but plain Gaussian noise"

    def _cost(self, draws: Draws, delta: float) -> float:
        return gaussian_epsilon(sensitivity(self.adjacency) / plain_multiplier(draws), delta) if delta < 1 else 0.0


def plain_multiplier(draws: Draws) -> float:
    """All plain Gaussian draws as one."""
    plain = [(d.multiplier, n) for d, n in draws.items() if isinstance(d, GaussianDraw) and d.sampler == "none"]
    return joint_multiplier(plain)
