"""The law that matters most: the mechanism keeps what it promises, as far as counting or enumeration can tell.

Exact, where the odds can be written down: `transition()` -> (odds, distances) of the mechanism itself, one given by the
caller, or `odds(rows)` of a word mechanism. The odds are certified on all pairs and all outputs, and the draws must follow
them, or the certificate would be about another mechanism. Statistical, otherwise: two-world audits on made-up vocabularies
(designs), or between the worlds that the caller names. Together they raise a false alarm with probability alpha / 2 at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..accounting.prices import guarantee_of
from ..core import Adjacency, BadInput, Guarantee, Metric
from ..noise import secure
from .audits import two_worlds
from .designs import UNKNOWN, Design, cube, lattice
from .laws import Case, Worlds
from .laws_of_events import DELTA
from .readings import distances_between, veil_word
from .transition import certify

PROMISE = "the promise holds"
_OTHER_EPSILONS = (0.1, 1.0, 5.0, 50.0)
_SINGLE_TRIES = 8_000  # outputs that take a call each
_MOST_CERTIFIED = 1_000


class Setting(NamedTuple):
    """One made-up vocabulary, the epsilon to try it at, and tries per input."""

    design: Design
    changes: dict[str, float]
    tries: int


def the_promise_holds(case: Case) -> str | None:
    if case.audit == "none":
        return "no audit was asked for"
    if guarantee_of(_unseeded(case).event(case.shape), delta=DELTA).label != "guarantee":
        return "it promises nothing"
    exact = case.audit != "statistical" and _audit_exactly(case)
    if case.audit == "exact" and not exact:
        raise ValueError("an exact audit needs a mechanism with transition() or odds(), or the argument transition")
    asked = bool(exact)
    worlds = case.worlds or _own_worlds(case)
    if worlds:
        _audit_worlds(case, worlds)
        asked = True
    if case.on_words and case.audit != "exact" and not exact:
        asked = _audit_words(case) or asked
    return None if asked else "no two worlds are known to compare: give worlds=[Worlds(first, second, distance)]"


def _unseeded(case: Case) -> Any:
    return case.fresh(seed=None) if case.has("seed") else case.mechanism


# ---- by counting ---------------------------------------------------------------------------------------------------


def _audit_words(case: Case) -> bool:
    settings = list(_settings(case))
    pairs = sum(len(list(itertools.combinations(range(len(s.design.inputs) + 1), 2))) for s in settings)
    level = 1 - case.alpha / 2 / pairs
    asked = False
    for setting in settings:
        mechanism = case.on(setting.design, **setting.changes)
        asked = _audit_setting(case, mechanism, setting, level) or asked
    return asked


def _settings(case: Case) -> Iterator[Setting]:
    own = float(case.parameters.get("epsilon") or _metric_epsilon(case))
    can_change = case.has("epsilon")
    others = [e for e in _OTHER_EPSILONS if e != own] if can_change else []
    hamming = getattr(case.mechanism, "metric", "") == "hamming"
    for dimension in (2, 3) if not hamming else ():
        yield Setting(lattice(dimension, own, case.blocks), {}, case.tries)
    for epsilon in (own, *others):
        design = cube(case.blocks) if hamming else lattice(1, epsilon, case.blocks)
        yield Setting(
            design, {"epsilon": epsilon} if can_change else {}, case.tries if epsilon == own else case.tries // 3
        )


def _metric_epsilon(case: Case) -> float:
    loss = guarantee_of(case.mechanism.event(case.shape), delta=DELTA).loss
    return loss.epsilon if isinstance(loss, Metric) else 1.0


def _audit_setting(case: Case, mechanism: Any, setting: Setting, level: float) -> bool:
    design, guarantee = setting.design, guarantee_of(mechanism.event(case.shape), delta=DELTA)
    rows, words = list(design.inputs), [design.words[i] for i in design.inputs]
    if not any("outside the vocabulary" in text for text in guarantee.assumes):
        rows, words = [*rows, len(design.words)], [*words, UNKNOWN[0]]
    apart = distances_between(mechanism, rows)
    if apart is None:
        return False
    outcomes = [veil_word(mechanism, design, word, setting.tries) for word in words]
    for a, b in itertools.combinations(range(len(rows)), 2):
        note = f"{len(design.words)} made-up words, inputs {rows[a]} and {rows[b]}"
        _compare(case, outcomes[a], outcomes[b], guarantee, float(apart[a, b]), level, note)
    return True


def _own_worlds(case: Case) -> tuple[Worlds, ...]:
    """Neighbours made of the sample, where its units are plain to see: the last one removed, or the first in its place."""
    sample, event = case.sample, case.mechanism.event(case.shape)
    if case.on_words or case.see is not None or not isinstance(sample, (list, np.ndarray)) or len(sample) < 2:
        return ()
    if event.adjacency is Adjacency.ADD_REMOVE:
        other = sample[:-1]
    elif event.adjacency is Adjacency.REPLACE:
        other = [*sample[:-1], sample[0]] if isinstance(sample, list) else np.concatenate([sample[:-1], sample[:1]])
    else:
        return ()
    sizes = [np.size(case.mechanism.apply(data, noise=secure())) for data in (sample, other)]
    return (Worlds(sample, other),) if sizes[0] == sizes[1] else ()  # a row for each unit: its worlds must be named


def _check_refusals(case: Case, mechanism: Any, worlds: Worlds) -> None:
    """To refuse one of two neighbours and to release the other tells them apart for certain."""
    refused = []
    for data in (worlds.first, worlds.second):
        try:
            mechanism.apply(np.atleast_2d(data) if worlds.by_row else data, noise=secure())
            refused.append(False)
        except BadInput:
            refused.append(True)
    if refused[0] != refused[1]:
        raise case.broken(PROMISE, "of two neighbouring inputs one is refused and the other released")


def _audit_worlds(case: Case, all_worlds: tuple[Worlds, ...]) -> None:
    mechanism = _unseeded(case)
    guarantee = guarantee_of(mechanism.event(case.shape), delta=DELTA)
    level = 1 - case.alpha / 2 / len(all_worlds)
    for number, worlds in enumerate(all_worlds):
        _check_refusals(case, mechanism, worlds)
        first, second = outcomes_of(mechanism, worlds, case.tries)
        _compare(case, first, second, guarantee, worlds.distance, level, f"worlds {number}")


def outcomes_of(mechanism: Any, worlds: Worlds, tries: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """What comes out in either world, as numbers."""
    if worlds.by_row:
        outputs = [list(mechanism.apply(np.tile(x, (tries, 1)), noise=secure())) for x in (worlds.first, worlds.second)]
    else:
        noise, count = secure(), min(tries, _SINGLE_TRIES)
        outputs = [[mechanism.apply(x, noise=noise) for _ in range(count)] for x in (worlds.first, worlds.second)]
    if worlds.see is not None:
        outputs = [[worlds.see(value) for value in side] for side in outputs]
    try:
        return np.array(outputs[0], np.float64), np.array(outputs[1], np.float64)
    except (TypeError, ValueError):
        names: dict[str, int] = {}
        first, second = ([names.setdefault(repr(v), len(names)) for v in side] for side in outputs)
        return np.array(first), np.array(second)


def _compare(
    case: Case,
    first: NDArray[Any],
    second: NDArray[Any],
    guarantee: Guarantee,
    distance: float | None,
    level: float,
    note: str,
) -> None:
    delta = getattr(guarantee.loss, "delta", 0.0)
    found = two_worlds(first, second, level=level, unit=guarantee.unit, distance=distance, delta=delta, note=note)
    case.evidence.append((found, guarantee))
    if found.refutes(guarantee, level):
        shown, allowed = found.epsilon_floor(level, delta), found.allowed(guarantee)
        assert allowed is not None
        what = f"two worlds show a loss of at least {shown:.3g} where {allowed.epsilon:.3g} is allowed"
        raise case.broken(PROMISE, f"{what} (false alarms: {1 - level:.1g}; {note})")


# ---- by enumeration ------------------------------------------------------------------------------------------------


def _audit_exactly(case: Case) -> bool:
    if case.transition is not None or hasattr(case.mechanism, "transition"):
        mechanism = _unseeded(case)
        found = case.transition(mechanism) if case.transition is not None else mechanism.transition()
        _certify(case, mechanism, *found)
        if case.on_words:
            _draws_follow(case, mechanism, np.asarray(found[0]), _rows_to_draw(len(found[0])))
        return True
    if not (case.on_words and hasattr(case.mechanism, "odds")):
        return False
    mechanisms = [case.on(s.design, **s.changes) for s in _settings(case)]
    if len(case.mechanism.vectors_) <= _MOST_CERTIFIED:
        mechanisms.append(_unseeded(case))
    for mechanism in mechanisms:
        rows = np.arange(len(mechanism.vectors_) + 1)
        apart = distances_between(mechanism, rows)
        if apart is None:
            return False
        odds = np.asarray(mechanism.odds(rows), np.float64)
        _certify(case, mechanism, odds, apart)
        _draws_follow(case, mechanism, odds, _rows_to_draw(len(rows) - 1), len(mechanisms))
    return True


def _certify(case: Case, mechanism: Any, odds: Any, distances: Any, error: float = 0.0) -> None:
    loss = guarantee_of(mechanism.event(case.shape), delta=DELTA).loss
    if not isinstance(loss, Metric):
        raise ValueError("only a promise in a metric can be certified on a transition matrix")
    found = certify(odds, distances, loss.epsilon, error=error)
    if not found.holds():
        raise case.broken(
            PROMISE, f"enumeration finds {found.worst:.4g} nats above the promise at (input, input, output) {found.at}"
        )


def _rows_to_draw(count: int) -> list[int]:
    return sorted({0, count // 2, count - 1})


def _draws_follow(case: Case, mechanism: Any, odds: NDArray[Any], rows: list[int], times: int = 1) -> None:
    """Exact binomial limits on every cell, at alpha / 2 over all of them."""
    from scipy.stats import binom

    words = list(mechanism.vectors_.words)
    tries = max(1, case.tries // 10)
    alpha = case.alpha / 2 / (times * len(rows) * odds.shape[1] * 2)
    place = {w: i for i, w in enumerate(words)}
    for row in rows:
        out = mechanism.apply([" ".join([words[row]] * tries)], noise=secure())[0].lower().split()
        counts = np.bincount([place.get(w, len(words)) for w in out], minlength=len(words) + 1)
        low, high = binom.cdf(counts[:-1], tries, odds[row]), binom.sf(counts[:-1] - 1, tries, odds[row])
        if counts[-1] or min(low.min(), high.min()) < alpha:
            raise case.broken(PROMISE, "its draws do not follow the odds that it states")
