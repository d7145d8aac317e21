"""How the losses of one data set add up.

Losses add only within one question: one unit, one adjacency and, for metric privacy, one metric (its name and the
fingerprint of the vectors it is measured on).

    metric noise           eps_1 d + eps_2 d = (eps_1 + eps_2) d; other metrics stand beside it, see `joint`
    counts (eps, N)        is a metric of eps / N per count, so different N add; read at the largest N
    bare (eps, delta)      both add (basic composition)
    pure noise             adds, as a bare promise with delta 0
    Gaussian among them    all of them kept as events and composed by the accountant at one delta

Gaussian noise has no delta of its own, so such a total is read at the delta that is asked for; what bare promises use of
it is taken off first: eps(delta) = sum eps_i + accountant(delta - sum delta_i).

What larger units were charged for also bears on the smaller ones inside them (`containment`): it joins their totals, as
events under 'replace'. Next to charges under another adjacency these are composed apart, each at its share of delta.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from textveil.core.errors import CannotAdd
from textveil.core.events import CountNoise, Event, MetricNoise, Noise
from textveil.core.losses import COUNTS_METRIC, Approx, LimitedPrecision, Loss, Metric, Pure, upward
from textveil.core.units import Adjacency, Unit

from . import prices
from .accountants import Best
from .draws import GaussianDraw, StatedDraw, draws_of
from .rdp import LOOSE

L = TypeVar("L", bound=Loss)

DEFAULT_DELTA = 1e-6  # at which events are read when neither a caller nor a budget names a delta


@dataclass(frozen=True, order=True)
class Question:
    """What two losses must have in common to be added."""

    unit: Unit
    adjacency: Adjacency
    metric: str = ""
    metric_id: str = ""

    @classmethod
    def of(cls, event: Event) -> Question:
        match event.noise:
            case MetricNoise():
                return cls(event.unit, event.adjacency, event.noise.metric, event.noise.metric_id)
            case CountNoise():
                return cls(event.unit, event.adjacency, COUNTS_METRIC)
        return cls(event.unit, event.adjacency)


@dataclass(frozen=True)
class Total:
    """Sum of all priced charges of one question."""

    unit: Unit
    adjacency: Adjacency
    loss: Loss
    charges: int
    from_larger: int = 0  # how many of the charges were made for larger units, and count by a conversion
    notes: tuple[str, ...] = ()  # what a reader of the number should know

    def to_json(self) -> dict[str, Any]:
        return {
            "unit": str(self.unit),
            "adjacency": str(self.adjacency),
            "loss": self.loss.to_json(),
            "charges": self.charges,
            "from_larger": self.from_larger,
            "notes": list(self.notes),
        }


def add_up(events: Sequence[Event], delta: float | None = None) -> Loss:
    """Total loss of events of one question, and of converted ones (under 'replace') that bear on the same unit.

    >>> twice = [Event(MetricNoise(0.25, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC)] * 2
    >>> add_up(twice).epsilon
    0.5
    """
    question, events = Question.of(events[0]), _merged(events)
    if question.metric == COUNTS_METRIC:
        return _add_counts(events)
    if question.metric:
        return _add_metric(events)
    return _compose(events, delta)


def notes_on(events: Iterable[Event]) -> tuple[str, ...]:
    """What to say beside a total of such events."""
    fixed = (isinstance(d, GaussianDraw) and d.sampler == "fixed" for event in events for d in draws_of(event))
    return (LOOSE,) if any(fixed) else ()


def joint(losses: Iterable[Loss]) -> str:
    """Joint loss of several metrics over one unit.

    >>> joint([Metric(0.5, "hamming", "ab12cd34ef"), Metric(3.0, "euclidean")])
    '0.5 * hamming[ab12cd34] + 3 * euclidean'
    """
    terms = [
        (loss.epsilon, loss.metric + (f"[{loss.metric_id[:8]}]" if loss.metric_id else ""))
        if isinstance(loss, Metric)
        else (loss.epsilon / loss.n, COUNTS_METRIC)
        for loss in losses
        if isinstance(loss, (Metric, LimitedPrecision))
    ]
    return " + ".join(f"{upward(epsilon, 6)} * {name}" for epsilon, name in terms)


def check_price(event: Event) -> None:
    """BadInput or CannotAdd for an event that has no price, so that it is refused before it is written down."""
    if any(isinstance(draw, GaussianDraw) for draw in draws_of(event)):
        Best().compose(event)
    else:
        add_up([event])


def _add_metric(events: Sequence[Event]) -> Loss:
    losses = [_as(Metric, prices.price(event)) for event in events]
    widest = max((x.diameter for x in losses if x.diameter is not None), default=None)
    return Metric(math.fsum(x.epsilon for x in losses), losses[0].metric, losses[0].metric_id, widest)


def _add_counts(events: Sequence[Event]) -> Loss:
    """Read at the largest N: a table's delta grows with N, so reading it there never understates it."""
    losses = [_as_counts(prices.price(event)) for event in events]
    n = max(loss.n for loss in losses)
    read = [loss.at(n) for loss in losses]
    return LimitedPrecision(math.fsum(x.epsilon for x in read), n, min(1.0, math.fsum(x.delta for x in read)))


def _as_counts(loss: Loss) -> LimitedPrecision:
    if isinstance(loss, Metric):
        return LimitedPrecision(loss.epsilon, 1)
    return _as(LimitedPrecision, loss)


def _add_plain(events: Sequence[Event]) -> Loss:
    """Pure and bare promises carry their own delta; both parts add."""
    losses = [_as(Approx, prices.price(event)) for event in events]
    return _approx(math.fsum(x.epsilon for x in losses), math.fsum(x.delta for x in losses))


def _compose(events: Sequence[Event], delta: float | None) -> Loss:
    if not _has(events, GaussianDraw):
        return _add_plain(events)
    delta = DEFAULT_DELTA if delta is None else delta
    free = delta - _stated_delta(events)
    if free <= 0:  # nothing is left for noise that needs some
        return _approx(math.inf, max(delta, delta - free))
    parts = _parts(events)
    share = free / sum(_has(part, GaussianDraw) for part in parts)
    read = [_as(Approx, prices.total(p, delta=_stated_delta(p) + share)) for p in parts]
    return _approx(math.fsum(x.epsilon for x in read), delta)


def _parts(events: Sequence[Event]) -> list[list[Event]]:
    """Parts that an accountant covers, whose prices add, each at its share of the free delta."""
    adjacencies = dict.fromkeys(event.adjacency for event in events)
    return [part for a in adjacencies for part in _covered([event for event in events if event.adjacency is a])]


def _covered(events: Sequence[Event]) -> list[list[Event]]:
    """Under replace-one, sampling of a fixed size is covered by Renyi divergences only and Poisson sampling by privacy loss
    distributions only, so the two kinds are composed apart.
    """
    fixed = [e for e in events if any(isinstance(d, GaussianDraw) and d.sampler == "fixed" for d in draws_of(e))]
    others = [e for e in events if e not in fixed]
    sampled = any(isinstance(d, GaussianDraw) and d.sampler == "poisson" for e in others for d in draws_of(e))
    if fixed and sampled and events[0].adjacency is Adjacency.REPLACE:
        return [fixed, others]
    return [list(events)]


def _stated_delta(events: Sequence[Event]) -> float:
    return math.fsum(n * d.delta for e in events for d, n in draws_of(e).items() if isinstance(d, StatedDraw))


def _has(events: Sequence[Event], kind: type) -> bool:
    return any(isinstance(draw, kind) for event in events for draw in draws_of(event))


def _as(kind: type[L], loss: Loss) -> L:
    """A loss of another kind than its question is never left out of a sum."""
    if not isinstance(loss, kind):
        raise CannotAdd(f"a loss of kind '{loss.kind}' has no place in a total of kind '{kind.kind}'")
    return loss


def _merged(events: Sequence[Event]) -> list[Event]:
    """Equal noise counted instead of repeated: a thousand rounds are one event of a thousand times."""
    times = Counter[tuple[Noise, Adjacency]]()
    for event in events:
        times[event.noise, event.adjacency] += event.times
    return [Event(noise, events[0].unit, adjacency, times=n) for (noise, adjacency), n in times.items()]


def _approx(epsilon: float, delta: float) -> Loss:
    return Pure(epsilon) if delta == 0 else Approx(epsilon, min(1.0, delta))
