"""Accountants with one fault each, of the kinds that were made in practice. The conformance suite must catch every one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from textveil.accounting.accountants import PLD, RDP
from textveil.accounting.draws import draws_of
from textveil.core import (
    Adjacency,
    Event,
    FixedSampled,
    GaussianNoise,
    PoissonSampled,
    Stated,
    TextveilError,
)


class Quick(RDP):
    """An honest accountant on few orders: the sound base of the faulty ones, so that each has exactly one fault."""

    def __init__(self) -> None:
        super().__init__((1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64))


class Translating(Quick):
    """Base of faults that price another event than the one that happened."""

    def compose(self, event: Event) -> Any:
        self._check(event)
        self.draws, self.question = self.draws + draws_of(self.mistaken(event)), (event.unit, event.adjacency)
        return self

    def mistaken(self, event: Event) -> Event:
        return event


class CountIgnored(Translating):
    """Prices one draw however many there were (seen in a library's exponential mechanism)."""

    def mistaken(self, event: Event) -> Event:
        return replace(event, times=1)


class ReplacePricedAsAddRemove(Quick):
    """Takes C for the sensitivity under replace-one, where it is 2C (seen in a library's RDP accountant)."""

    @property
    def adjacency(self) -> Adjacency:
        return Adjacency.ADD_REMOVE


class ShuffledPricedAsPoisson(Translating):
    """Gives a batch of fixed size the price of Poisson sampling (the commonest fault in DP-SGD code)."""

    def mistaken(self, event: Event) -> Event:
        match event.noise:
            case FixedSampled(population, batch, noise) if batch < population:
                sampled = PoissonSampled(batch / population, noise)
                return replace(event, noise=sampled, adjacency=Adjacency.ADD_REMOVE)
        return event


class ZeroOutWithFixedSizePricedAtC(Quick):
    """Prices fixed-size sampling under zero-out with sensitivity C, forgetting who is drawn instead."""

    def curve(self, draws: Any = None) -> Any:
        found = self.draws if draws is None else draws
        if self.adjacency is Adjacency.ZERO_OUT:
            doubled = {replace(d, multiplier=2 * d.multiplier) if _is_fixed(d) else d: n for d, n in found.items()}
            found = Counter(doubled)
        return super().curve(found)


def _is_fixed(draw: Any) -> bool:
    return getattr(draw, "sampler", "") == "fixed"


class SamplingIgnored(Translating):
    """Prices a sampling step as if everyone took part: safe, and useless."""

    def mistaken(self, event: Event) -> Event:
        match event.noise:
            case PoissonSampled(_, noise) | FixedSampled(_, _, noise):
                return replace(event, noise=noise)
        return event


class SamplingCountedTwice(Translating):
    """Multiplies the price of one draw by the rate once more."""

    def mistaken(self, event: Event) -> Event:
        match event.noise:
            case PoissonSampled(rate, noise) if rate < 1:
                return replace(event, noise=PoissonSampled(rate**2, noise))
        return event


class DeltaNotForwarded(Quick):
    """Answers at its own delta, whatever was asked."""

    def _cost(self, draws: Any, delta: float) -> float:
        return super()._cost(draws, 1e-5)


class Optimistic(PLD):
    """Takes one per cent off a bound, as an estimate from below would: close to the truth, on the wrong side of it."""

    def __init__(self) -> None:
        super().__init__(grid=0.01)

    def _cost(self, draws: Any, delta: float) -> float:
        return max(0.0, super()._cost(draws, delta) * 0.99)


class FirstEventIsFree(Quick):
    """Starts counting after the first event."""

    started = False

    def compose(self, event: Event) -> Any:
        if not self.started:
            self._check(event)
            self.started, self.question = True, (event.unit, event.adjacency)
            return self
        return super().compose(event)


class LastEventCountsDouble(Quick):
    """Carries a weight that depends on the place in the sequence."""

    last: Any = None

    def compose(self, event: Event) -> Any:
        super().compose(event)
        self.last = event
        return self

    def epsilon(self, delta: float) -> float:
        if self.last is None:
            return super().epsilon(delta)
        return super().epsilon(delta) + type(self).__mro__[1]().compose(self.last).epsilon(delta)


class MultiplierSquared(Translating):
    """Hands the variance to a function that wants the standard deviation."""

    def mistaken(self, event: Event) -> Event:
        match event.noise:
            case GaussianNoise(multiplier):
                return replace(event, noise=GaussianNoise(multiplier**2))
        return event


class UnsupportedIsFree(Quick):
    """Skips what it cannot price instead of refusing it."""

    def supports(self, event: Event) -> bool:
        return True

    def compose(self, event: Event) -> Any:
        try:
            return super().compose(event)
        except TextveilError:
            return self


class OnlyTheLargestCounts(Quick):
    """Takes the largest of the losses for their sum, as if every draw fell on other data."""

    def _cost(self, draws: Any, delta: float) -> float:
        return max(super(OnlyTheLargestCounts, self)._cost(Counter({d: 1}), delta) for d in draws)


class UnitsMixed(Quick):
    """Adds events of any unit and adjacency."""

    def _check(self, event: Event) -> Any:
        self.question = None
        return super()._check(event)


class StatedDeltaDropped(Translating):
    """Adds the epsilon of a bare promise and forgets its delta."""

    def mistaken(self, event: Event) -> Event:
        match event.noise:
            case Stated(epsilon, _):
                return replace(event, noise=Stated(epsilon, 0.0))
        return event


class RefusalLeavesACost(Quick):
    """Changes its state before it checks the event."""

    spent = 0.0

    def compose(self, event: Event) -> Any:
        self.spent = 0.0 if self.supports(event) else 1.0
        return super().compose(event)

    def epsilon(self, delta: float) -> float:
        return super().epsilon(delta) + self.spent


class NeverANumber(Quick):
    """Ends in nan: an overflow that nobody looked at."""

    def epsilon(self, delta: float) -> float:
        return math.nan if self.draws else 0.0


# Every fault, with a law that must be among those it breaks.
BROKEN: dict[type, str] = {
    CountIgnored: "n at once cost what n one by one cost",
    ReplacePricedAsAddRemove: "replacing costs twice the shift",
    ShuffledPricedAsPoisson: "never below what an attacker can do",
    ZeroOutWithFixedSizePricedAtC: "never below what an attacker can do",
    SamplingIgnored: "sampling helps",
    SamplingCountedTwice: "never below what an attacker can do",
    DeltaNotForwarded: "never below what an attacker can do",
    Optimistic: "never below what an attacker can do",
    FirstEventIsFree: "never below what an attacker can do",
    LastEventCountsDouble: "order does not matter",
    MultiplierSquared: "never below what an attacker can do",
    UnsupportedIsFree: "what is not covered is refused",
    OnlyTheLargestCounts: "never below what an attacker can do",
    UnitsMixed: "one unit and adjacency at a time",
    StatedDeltaDropped: "stated promises add",
    RefusalLeavesACost: "what is not covered is refused",
    NeverANumber: "never below what an attacker can do",
}
