"""Laws about what a mechanism says beforehand: its event, the price, the charge, its parameters."""

from __future__ import annotations

import json
import math
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..accounting.ledger import Ledger
from ..accounting.prices import guarantee_of, price
from ..core import BadInput, Event, Mechanism, Shape, TextveilError, Unpriced, event_from_json
from ..noise import secure
from . import values
from .laws import Case

PURE = "the event is a pure value"
PUBLIC = "the event uses public facts only"
PRICED = "the event has a price"
CHARGED = "the charge comes before the noise"
ROUND_TRIP = "parameters make the round trip"
SEEDED = "a seed makes a draft"
REFUSED = "bad parameters are refused"
UNSEEN_SEED = "the seed is not published"
SHAPE = "a shape that does not fit is refused"

DELTA = 1e-6  # where Gaussian noise is read
_SEED = 987_654_321


def event_is_pure(case: Case) -> str | None:
    if not isinstance(case.mechanism, Mechanism):
        raise case.broken(PURE, "it lacks name, event(shape) or apply(data, noise=)")
    first, second = case.mechanism.event(case.shape), case.mechanism.event(case.shape)
    if not isinstance(first, Event):
        raise case.broken(PURE, f"event() returned a {type(first).__name__}")
    if first != second:
        raise case.broken(PURE, "event() called twice gave two different events")
    shown = json.dumps(first.to_json(), allow_nan=False)
    if event_from_json(json.loads(shown)) != first:
        raise case.broken(PURE, "its event does not survive JSON")
    if first.mechanism != case.mechanism.name:
        raise case.broken(PURE, f"its event names the mechanism '{first.mechanism}'")
    return None


def event_is_public(case: Case) -> str | None:
    """Whatever data was seen in between, the event stays."""
    before = case.mechanism.event(case.shape)
    for data in (case.sample, _other(case.sample)):
        if data is None:
            continue
        case.mechanism.apply(data, noise=secure())
        if case.mechanism.event(case.shape) != before:
            raise case.broken(PUBLIC, "its event changed after it had seen data")
    return None


def event_is_priced(case: Case) -> str | None:
    event = case.mechanism.event(case.shape)
    try:
        price(event, delta=DELTA)
        guarantee_of(event, delta=DELTA).explain()
    except TextveilError as error:
        raise case.broken(PRICED, f"its event cannot be priced ({error})") from error
    if not event.source and not isinstance(event.noise, Unpriced):
        raise case.broken(PRICED, "its event names no source for the promise")
    return None


def charge_comes_first(case: Case) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.ledger"
        ledger = Ledger(path)
        watched = _Watched(case, path)
        release = ledger.release(watched, case.sample, case.shape)  # type: ignore[arg-type]
        if watched.charges_seen != 1 or release.entry != Ledger(path).entries()[0].id:
            raise case.broken(CHARGED, "apply began before its charge was on disk")
        watched.fails = True
        with suppress(_Fails):
            ledger.release(watched, case.sample, case.shape)  # type: ignore[arg-type]
        if len(Ledger(path).entries()) != 2:
            raise case.broken(CHARGED, "a run that failed after its charge lost the charge")
    return None


def parameters_make_the_round_trip(case: Case) -> str | None:
    if not case.parameters:
        return "it has no get_params"
    given = case.parameters
    made = type(case.mechanism)(**given)
    for name, value in made.get_params().items():
        if name not in given or not (value is given[name] or values.same(value, given[name])):
            raise case.broken(ROUND_TRIP, f"the constructor changed its parameter '{name}'")
    if case.fitted_like(made).event(case.shape) != case.mechanism.event(case.shape):
        raise case.broken(ROUND_TRIP, "an instance made of its parameters has another event")
    return None


def a_seed_makes_a_draft(case: Case) -> str | None:
    if not case.has("seed"):
        return "it has no parameter 'seed'"
    with tempfile.TemporaryDirectory() as folder:
        release = Ledger(Path(folder) / "check.ledger").release(case.fresh(seed=1), case.sample, case.shape)
    if not (release.guarantee.label == "seeded" and release.stamp.draft):
        raise case.broken(SEEDED, "what it makes with a seed still carries a promise")
    return None


def seed_is_not_published(case: Case) -> str | None:
    """What may be written about parameters holds neither the name nor the value of the seed, and survives JSON."""
    if not case.has("seed") or not callable(getattr(case.mechanism, "public_params", None)):
        return "it has no seed, or no public_params()"
    public = case.fresh(seed=_SEED).public_params()
    try:
        shown = json.dumps(public, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise case.broken(UNSEEN_SEED, "what it publishes of its parameters is no JSON") from error
    if "seed" in public or str(_SEED) in shown:
        raise case.broken(UNSEEN_SEED, "its public parameters tell the seed, which undoes the noise")
    return None


def a_shape_that_does_not_fit_is_refused(case: Case) -> str | None:
    """Where a declared size lowers the price, data of another size must not be released at that price."""
    usual = case.mechanism.event(case.shape)
    for size in ("vocabulary", "cells", "max_words"):
        small = replace(case.shape, **{size: 1})
        try:
            declared = case.mechanism.event(small)
        except BadInput:
            continue  # refused before anything is charged
        if declared.noise == usual.noise and declared.times == usual.times:
            continue  # the price does not depend on it
        with tempfile.TemporaryDirectory() as folder:
            try:
                Ledger(Path(folder) / "check.ledger").release(case.fresh(), case.sample, small)
            except BadInput:
                continue
        raise case.broken(SHAPE, f"priced for a declared {size} of 1, it was applied to more")
    return None


def bad_parameters_are_refused(case: Case) -> str | None:
    if not case.has("epsilon"):
        return "it has no parameter 'epsilon'"
    for bad in (0, -1.0, math.nan, math.inf, -math.inf):
        try:
            case.fresh(epsilon=bad).event(case.shape)
        except BadInput:
            continue
        except Exception as error:
            raise case.broken(REFUSED, f"epsilon {bad} ended in a {type(error).__name__}, not in BadInput") from error
        raise case.broken(REFUSED, f"epsilon {bad} was accepted")
    return None


class _Fails(RuntimeError):
    pass


class _Watched:
    """The mechanism, with an eye on the ledger's file at the moment it is applied."""

    def __init__(self, case: Case, path: Path):
        self._mechanism, self._path = case.mechanism, path
        self.name = case.mechanism.name
        self.seed = getattr(case.mechanism, "seed", None)
        self.charges_seen, self.fails = 0, False

    def event(self, shape: Shape) -> Event:
        return self._mechanism.event(shape)

    def apply(self, data: Any, *, noise: Any) -> Any:
        self.charges_seen = len(Ledger(self._path, must_exist=True).entries())
        if self.fails:
            raise _Fails
        return self._mechanism.apply(data, noise=noise)


def _other(sample: Any) -> Any:
    """Other data of the same kind: the sample twice over, if it is a sequence; of a tuple, each part (texts, marks)."""
    if isinstance(sample, tuple):
        return tuple([*part, *part] for part in sample)
    if isinstance(sample, list):
        return [*sample, *sample]
    if hasattr(sample, "shape") and getattr(sample, "ndim", 0) > 0 and not hasattr(sample, "toarray"):
        import numpy as np

        return np.concatenate([sample, sample])
    return None
