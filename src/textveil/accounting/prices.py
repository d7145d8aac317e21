"""What an event costs: a table from the kind of draw to its price, and the accountants for what composes more tightly.

Claim. `total(events)` bounds everything the events reveal together, for one unit under one adjacency. Losses that only add
(metric, counts, pure, stated) add; as soon as Gaussian noise is among the draws, all draws go to the accountants and come
back as one (epsilon, delta). Counts are multiplied in `draws_of` and nowhere else, so n draws at once cost what n draws one
by one cost.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from textveil.core import (
    ZCDP,
    Adjacency,
    Approx,
    BadInput,
    CannotAdd,
    CountNoise,
    Event,
    Guarantee,
    LimitedPrecision,
    Loss,
    Metric,
    MetricNoise,
    Pure,
    Unpriced,
)
from textveil.core.params import open_fraction

from .accountants import Accountant, Best
from .draws import Draw, Draws, GaussianDraw, PureDraw, StatedDraw, draws_of, joint_multiplier, sensitivity


def price(event: Event, *, delta: float | None = None, accountant: Accountant | None = None) -> Loss:
    """The loss of one event. Gaussian noise needs the delta at which to read it.

    >>> from textveil.core import GaussianNoise, LaplaceNoise, Unit
    >>> price(Event(MetricNoise(0.5, "hamming"), Unit.WORD, Adjacency.METRIC, times=2)).epsilon
    1.0
    >>> price(Event(LaplaceNoise(4.0), Unit.USER, Adjacency.REPLACE))
    Pure(epsilon=0.5, delta=0.0)
    >>> round(price(Event(GaussianNoise(1.0), Unit.USER, Adjacency.ADD_REMOVE), delta=1e-5).epsilon, 3)
    4.377
    """
    if isinstance(event.noise, Unpriced):
        return event.noise.loss  # whatever `times` says: no theorem, so nothing to multiply
    return total([event], delta=delta, accountant=accountant)


def total(events: Sequence[Event], *, delta: float | None = None, accountant: Accountant | None = None) -> Loss:
    """The joint loss of events on one unit under one adjacency.

    >>> from textveil.core import LaplaceNoise, Unit
    >>> one = Event(LaplaceNoise(2.0), Unit.USER, Adjacency.ADD_REMOVE)
    >>> total([one, one, one])
    Pure(epsilon=1.5, delta=0.0)
    """
    adjacency = _same_question(events)
    draws = _joined(events)
    if not any(isinstance(draw, GaussianDraw) for draw in draws):
        losses = (PRICES[type(d)](d, n) for d, n in sorted(draws.items(), key=repr))
        return functools.reduce(lambda a, b: a.plus(b), losses)
    return _composed(events, draws, adjacency, delta, accountant)


def guarantee_of(event: Event, *, delta: float | None = None) -> Guarantee:
    """The promise that an event keeps: its price, for its unit and adjacency, with its assumptions and source.

    >>> from textveil.core import Unit
    >>> event = Event(CountNoise(1.0, 10), Unit.DOCUMENT, Adjacency.METRIC, source="theorem 1")
    >>> guarantee_of(event).loss
    LimitedPrecision(epsilon=1.0, n=10, delta=0.0)
    """
    return Guarantee(price(event, delta=delta), event.unit, event.adjacency, event.assumes, event.source)


def zcdp(events: Sequence[Event]) -> ZCDP:
    """The joint zCDP loss where it is exact or classic: plain Gaussian draws (mu^2 / 2) and pure ones (epsilon^2 / 2).

    >>> from textveil.core import GaussianNoise, Unit
    >>> zcdp([Event(GaussianNoise(2.0), Unit.USER, Adjacency.REPLACE, times=4)])
    ZCDP(rho=2.0)
    """
    factor, rho = sensitivity(_same_question(events)), 0.0
    for draw, count in sorted(_joined(events).items(), key=repr):
        match draw:
            case GaussianDraw("none", _, multiplier):
                rho += count * (factor / multiplier) ** 2 / 2
            case PureDraw(epsilon):
                rho += count * epsilon**2 / 2
            case _:
                raise BadInput("only plain Gaussian and pure noise have a zCDP price here, not sampled or stated noise")
    return ZCDP(rho)


def mu_of(events: Sequence[Event]) -> float:
    """The exact mu of plain Gaussian draws: two worlds look like N(0, 1) against N(mu, 1)."""
    factor, draws = sensitivity(_same_question(events)), _joined(events)
    gaussians = [(d.multiplier, n) for d, n in draws.items() if isinstance(d, GaussianDraw) and d.sampler == "none"]
    if len(gaussians) != len(draws):
        raise BadInput("only plain Gaussian noise has an exact mu")
    return factor / joint_multiplier(gaussians)


def _joined(events: Iterable[Event]) -> Draws:
    return functools.reduce(lambda a, b: a + b, (draws_of(e) for e in events))


def _same_question(events: Sequence[Event]) -> Adjacency:
    if not events:
        raise BadInput("there is no event to price")
    first = events[0]
    for other in events[1:]:
        if (other.unit, other.adjacency) != (first.unit, first.adjacency):
            raise CannotAdd(
                f"events per {first.unit} ({first.adjacency}) and per {other.unit} ({other.adjacency}) have no joint price"
            )
    return first.adjacency


def _composed(
    events: Sequence[Event], draws: Draws, adjacency: Adjacency, delta: float | None, accountant: Accountant | None
) -> Approx:
    if delta is None:
        raise BadInput("Gaussian noise is priced at a delta, and none was given", possible="delta=1e-6")
    open_fraction("delta", delta)
    stated = sum(d.delta * n for d, n in draws.items() if isinstance(d, StatedDraw))
    if stated >= delta:
        raise BadInput(f"the stated promises alone use up delta {stated:.3g} of {delta:.3g}", possible="a larger delta")
    tool = accountant if accountant is not None else Best()
    for event in events:
        tool.compose(event)
    return Approx(tool.epsilon(delta), delta)


def _approx(draw: StatedDraw, count: int) -> Loss:
    epsilon, delta = draw.epsilon * count, min(1.0, draw.delta * count)
    return Approx(epsilon, delta) if delta else Pure(epsilon)


def _metric(draw: MetricNoise, count: int) -> Loss:
    return Metric(draw.epsilon * count, draw.metric, draw.metric_id, draw.diameter)


def _counts(draw: CountNoise, count: int) -> Loss:
    return LimitedPrecision(draw.epsilon * count, draw.precision, min(1.0, draw.delta * count))


def _pure(draw: PureDraw, count: int) -> Loss:
    return Pure(draw.epsilon * count)


# Kinds of draw whose loss only adds. What is not here is priced by an accountant, or not at all.
PRICES: dict[type[Draw], Callable[[Any, int], Loss]] = {
    MetricNoise: _metric,
    CountNoise: _counts,
    PureDraw: _pure,
    StatedDraw: _approx,
}
