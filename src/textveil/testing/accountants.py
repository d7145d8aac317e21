"""The conformance suite for accountants: laws that every honest price keeps, whatever the method behind it.

    >>> from textveil.accounting.accountants import Exact
    >>> check_accountant(Exact)[0]
    'nothing costs nothing'

A law that does not concern an accountant (it refuses such events) is skipped: refusing is always allowed. Passing proves
nothing about events that were not tried; failing proves that some price is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from textveil.accounting.accountant import Accountant
from textveil.core import (
    Adjacency,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    MetricNoise,
    Noise,
    NoPromise,
    PoissonSampled,
    RepeatedNoise,
    Stated,
    TextveilError,
    Together,
    Unit,
    Unpriced,
)

from .floors import plain_floor, sampled_floor, zero_out_floor

Factory = Callable[[], Accountant]
DELTAS = (1e-8, 1e-5, 1e-2)
ADJACENCIES = (Adjacency.ADD_REMOVE, Adjacency.ZERO_OUT, Adjacency.REPLACE)
_NEAR = 1e-3  # two ways to the same price may differ by the accountant's grid
_EXACT = 1e-6  # a floor is exact; only rounding may hide below it


@dataclass(frozen=True)
class Finding:
    """A law that was broken, and by which numbers."""

    law: str
    detail: str

    def __str__(self) -> str:
        return f"{self.law}: {self.detail}"


def check_accountant(factory: Factory) -> list[str]:
    """Raise AssertionError naming every broken law; return the names of the laws that hold."""
    found = findings(factory)
    if found:
        raise AssertionError("the accountant breaks these laws:\n" + "\n".join(f"  {f}" for f in found))
    return list(LAWS)


def findings(factory: Factory) -> list[Finding]:
    """Everything that the suite holds against an accountant, at most one finding for each law."""
    return [Finding(law, detail) for law, check in LAWS.items() for detail in _first(check, factory)]


def _first(check: Callable[[Factory], Iterator[str]], factory: Factory) -> Iterator[str]:
    try:
        yield from [next(check(factory))]
    except StopIteration:
        return
    except TextveilError as error:
        yield f"an event that was said to be supported is refused ({error})"


def _event(noise: Noise, adjacency: Adjacency = Adjacency.ADD_REMOVE, times: int = 1) -> Event:
    return Event(noise, Unit.EXAMPLE, adjacency, times=times)


def _poisson(rate: float, multiplier: float = 1.0) -> Noise:
    return PoissonSampled(rate, GaussianNoise(multiplier))


def _fixed(batch: int, multiplier: float = 1.0) -> Noise:
    return FixedSampled(1000, batch, GaussianNoise(multiplier))


def _kinds() -> Iterator[Event]:
    """One event of every kind that some accountant may take."""
    for adjacency in ADJACENCIES:
        for noise in (GaussianNoise(2.0), LaplaceNoise(3.0), _poisson(0.02), _fixed(20), Stated(0.5, 1e-9)):
            if not (isinstance(noise, FixedSampled) and adjacency is Adjacency.ADD_REMOVE):
                yield _event(noise, adjacency)


def _many(event: Event, times: int) -> Event:
    return _event(event.noise, event.adjacency, times)


def _cost(factory: Factory, *events: Event, delta: float = 1e-5) -> float | None:
    """The joint price, or None where the accountant refuses one of the events."""
    accountant = factory()
    for event in events:
        if not accountant.supports(event):
            return None
        accountant.compose(event)
    return float(accountant.epsilon(delta))


def _differ(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and not math.isclose(a, b, rel_tol=_NEAR, abs_tol=_NEAR)


def _exceeds(a: float | None, b: float | None, slack: float = _NEAR) -> bool:
    """True when a is above b by more than the slack. A price that is no number counts as wrong."""
    if a is None or b is None:
        return False
    return math.isnan(a) or math.isnan(b) or a > b * (1 + slack) + slack


def nothing_costs_nothing(factory: Factory) -> Iterator[str]:
    if (cost := factory().epsilon(1e-6)) != 0:
        yield f"an accountant without events says epsilon {cost:.4g}"


def many_at_once(factory: Factory) -> Iterator[str]:
    for event in _kinds():
        apart = _cost(factory, event, event, event)
        together = Together((RepeatedNoise(event.noise, 2), RepeatedNoise(event.noise, 1)))
        for joined in (_many(event, 3), _event(together, event.adjacency)):
            if _differ(apart, at_once := _cost(factory, joined)):
                yield f"{event.noise} three times costs {apart:.4g} one by one and {at_once:.4g} at once"


def order_is_free(factory: Factory) -> Iterator[str]:
    for adjacency in ADJACENCIES:
        events = [event for event in _kinds() if event.adjacency is adjacency and factory().supports(event)]
        forward, backward = _cost(factory, *events), _cost(factory, *reversed(events))
        if _differ(forward, backward):
            yield f"events under {adjacency} cost {forward:.4g}, in the reverse order {backward:.4g}"


def more_never_costs_less(factory: Factory) -> Iterator[str]:
    for event in _kinds():
        costs = [_cost(factory, _many(event, times)) for times in (1, 16)]
        for fewer, more in pairwise(costs):
            if _exceeds(fewer, more):
                yield f"more draws of {event.noise} cost less: {fewer:.4g}, then {more:.4g}"


def more_noise_never_costs_more(factory: Factory) -> Iterator[str]:
    makers: tuple[Callable[[float], Noise], ...] = (
        GaussianNoise,
        LaplaceNoise,
        lambda m: _poisson(0.02, m),
        lambda m: _fixed(20, m),
    )
    for adjacency in ADJACENCIES:
        for make in makers:
            costs = [_cost(factory, _event(make(m), adjacency, 10)) for m in (0.7, 1.0, 8.0)]
            for less, more in pairwise(costs):
                if _exceeds(more, less):
                    yield f"{make(1.0).kind} noise under {adjacency}: more noise costs {more:.4g} after {less:.4g}"


def larger_samples_never_cost_less(factory: Factory) -> Iterator[str]:
    for adjacency in ADJACENCIES:
        for make in (_poisson, lambda rate: _fixed(int(1000 * rate))):
            costs = [_cost(factory, _event(make(rate), adjacency, 10)) for rate in (0.01, 0.1, 0.5)]
            for smaller, larger in pairwise(costs):
                if _exceeds(smaller, larger):
                    yield f"{make(0.5).kind} under {adjacency}: the larger sample costs {larger:.4g} after {smaller:.4g}"


def sampling_helps(factory: Factory) -> Iterator[str]:
    for noise, adjacency in ((_poisson(0.01), Adjacency.ADD_REMOVE), (_fixed(10), Adjacency.REPLACE)):
        everyone, part = (_cost(factory, _event(n, adjacency)) for n in (GaussianNoise(1.0), noise))
        if everyone is not None and _exceeds(part, everyone / 1.5):
            yield f"{noise.kind} of a hundredth under {adjacency} costs {part:.4g}, everyone {everyone:.4g}"


def sampling_everyone_is_no_sampling(factory: Factory) -> Iterator[str]:
    for adjacency in ADJACENCIES:
        plain = _cost(factory, _event(GaussianNoise(1.5), adjacency, 4))
        for noise in (_poisson(1, 1.5), _fixed(1000, 1.5)):
            if _differ(plain, full := _cost(factory, _event(noise, adjacency, 4))):
                yield f"{noise.kind} of everyone under {adjacency} costs {full:.4g}, no sampling {plain:.4g}"


def replacing_costs_twice_the_shift(factory: Factory) -> Iterator[str]:
    for make in (GaussianNoise, LaplaceNoise):
        doubled = _cost(factory, _event(make(2.0), Adjacency.REPLACE))
        single = _cost(factory, _event(make(1.0), Adjacency.ADD_REMOVE))
        if _exceeds(single, doubled) or _differ(single, doubled):
            yield f"{make.kind}: multiplier 2 under replace costs {doubled:.4g}, 1 under add/remove {single:.4g}"
    replaced, added = (_cost(factory, _event(_poisson(0.1), a, 10)) for a in (Adjacency.REPLACE, Adjacency.ADD_REMOVE))
    if _exceeds(added, replaced):
        yield f"Poisson sampling costs {replaced:.4g} under replace and {added:.4g} under add/remove"


def never_below_what_an_attacker_can_do(factory: Factory) -> Iterator[str]:
    for event, floor, delta in _floors():
        cost = _cost(factory, event, delta=delta)
        if cost is not None and not cost >= floor * (1 - _EXACT) - _EXACT:
            yield (
                f"{event.noise} x {event.times} under {event.adjacency} at delta {delta:g} costs {cost:.4g}, "
                f"but two worlds are {floor:.4g} apart"
            )


def _floors() -> Iterator[tuple[Event, float, float]]:
    for delta in DELTAS:
        for adjacency in ADJACENCIES:
            shift = 2.0 if adjacency is Adjacency.REPLACE else 1.0
            for multiplier, times in ((0.8, 1), (10.0, 50)):
                mu = shift * math.sqrt(times) / multiplier
                yield _event(GaussianNoise(multiplier), adjacency, times), plain_floor(mu, delta), delta
            yield _event(_poisson(0.05, 0.7), adjacency), sampled_floor(0.05, 1 / 0.7, delta), delta
        yield _event(_fixed(50, 1.5), Adjacency.REPLACE), sampled_floor(0.05, 2 / 1.5, delta), delta
        yield _event(_fixed(50, 0.7), Adjacency.ZERO_OUT), zero_out_floor(0.05, 0.7, delta), delta


def larger_delta_never_costs_more(factory: Factory) -> Iterator[str]:
    for event in _kinds():
        costs = [_cost(factory, _many(event, 5), delta=delta) for delta in (1e-9, 1e-4, 0.3)]
        for strict, loose in pairwise(costs):
            if _exceeds(loose, strict, _EXACT):
                yield f"{event.noise}: a larger delta costs {loose:.4g} after {strict:.4g}"


def stated_promises_add(factory: Factory) -> Iterator[str]:
    promise = _event(Stated(1.0, 1e-6))
    if _exceeds(1.0, cost := _cost(factory, promise, delta=1e-6), _EXACT):
        yield f"a promise of (1, 1e-6) costs {cost:.4g} at its own delta"
    if (cost := _cost(factory, promise, delta=5e-7)) is not None and cost < math.inf:
        yield f"a promise with delta 1e-6 costs {cost:.4g} at delta 5e-7, where it promises nothing"


def what_is_not_covered_is_refused(factory: Factory) -> Iterator[str]:
    never = (
        Event(MetricNoise(1.0, "hamming"), Unit.WORD, Adjacency.METRIC),
        _event(Unpriced(NoPromise("no theorem"))),
        _event(_fixed(10), Adjacency.ADD_REMOVE),
        _event(PoissonSampled(0.1, Stated(1.0, 1e-3))),
        _event(Together((RepeatedNoise(GaussianNoise(1.0)), RepeatedNoise(Unpriced(NoPromise("no theorem")))))),
    )
    for event in (*never, *_kinds()):
        accountant = factory()
        supported = accountant.supports(event)
        if supported and event in never:
            yield f"{event.noise.kind} under {event.adjacency} has no price, yet it is supported"
        if not supported and not _refuses(accountant, event):
            yield f"{event.noise.kind} under {event.adjacency} is not supported, yet compose takes it"
        if not supported and accountant.epsilon(1e-6) != 0:
            yield f"refusing {event.noise.kind} left a cost behind"


def one_question_at_a_time(factory: Factory) -> Iterator[str]:
    gaussian = _event(GaussianNoise(2.0))
    others = (_event(GaussianNoise(2.0), Adjacency.REPLACE), Event(GaussianNoise(2.0), Unit.USER, Adjacency.ADD_REMOVE))
    for other in others:
        accountant = factory()
        if accountant.supports(gaussian):
            accountant.compose(gaussian)
            if accountant.supports(other) or not _refuses(accountant, other):
                yield f"events per {gaussian.unit} ({gaussian.adjacency}) and per {other.unit} ({other.adjacency}) were added"


def _refuses(accountant: Accountant, event: Event) -> bool:
    try:
        accountant.compose(event)
    except TextveilError:
        return True
    return False


LAWS: dict[str, Callable[[Factory], Iterator[str]]] = {
    "nothing costs nothing": nothing_costs_nothing,
    "n at once cost what n one by one cost": many_at_once,
    "order does not matter": order_is_free,
    "more draws never cost less": more_never_costs_less,
    "more noise never costs more": more_noise_never_costs_more,
    "a larger sample never costs less": larger_samples_never_cost_less,
    "sampling helps": sampling_helps,
    "sampling everyone is no sampling": sampling_everyone_is_no_sampling,
    "replacing costs twice the shift": replacing_costs_twice_the_shift,
    "never below what an attacker can do": never_below_what_an_attacker_can_do,
    "a larger delta never costs more": larger_delta_never_costs_more,
    "stated promises add": stated_promises_add,
    "what is not covered is refused": what_is_not_covered_is_refused,
    "one unit and adjacency at a time": one_question_at_a_time,
}
