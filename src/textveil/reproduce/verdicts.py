"""Verdicts by rule: what was measured, within which limits, against what the paper prints.

A claim is judged on the interval, never on the point:

    above, limit        confirmed if every interval lies above the limit; refuted if one lies wholly below
    below, limit        the mirror image
    within, low, high   confirmed if every interval lies inside; refuted if one lies wholly outside
    near, printed, tolerance   within printed -+ tolerance
    not_comparable      whatever was measured: the claims file says why

Where an interval reaches over a limit and none lies wholly on the wrong side, the verdict is "undecided", and the reason says
so. One run has no interval, so it decides nothing either. Several measures of one claim share one level of error: the
measuring function widens its intervals (Bonferroni), so that "all of them" is meant as one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.core.errors import UnknownName

CONFIRMED, REFUTED, UNDECIDED, NOT_COMPARABLE = "confirmed", "refuted", "undecided", "not comparable"
WORDS = (CONFIRMED, REFUTED, UNDECIDED, NOT_COMPARABLE)
REACHES_OVER = "the interval reaches over the limit"
ONE_RUN = "one run"
UNREACHED = "no run reaches the point that the claim speaks of"


@dataclass(frozen=True)
class Measure:
    """One measured number with its interval; `n` is how many runs (or draws) are behind it, 0 for exact ones.

    A single run says nothing about the next one: whatever ends are given, its interval is endless.

    >>> Measure("accuracy", 0.5, 0.5, 0.5, n=1).low
    -inf
    """

    label: str
    value: float
    low: float
    high: float
    n: int = 0

    def __post_init__(self) -> None:
        if self.n == 1:
            object.__setattr__(self, "low", -math.inf)
            object.__setattr__(self, "high", math.inf)

    @classmethod
    def exact(cls, label: str, value: float) -> Measure:
        return cls(label, float(value), float(value), float(value))

    def to_json(self) -> dict[str, Any]:
        shown = {name: _finite(getattr(self, name)) for name in ("value", "low", "high")}
        return {"label": self.label, **shown, "n": self.n}


@dataclass(frozen=True)
class Verdict:
    word: str
    reason: str = ""


def mean_of(label: str, values: Sequence[float], *, level: float = 0.95) -> Measure:
    """The mean over runs with Student's t interval.

    >>> m = mean_of("accuracy", [0.5, 0.7, 0.6])
    >>> round(m.value, 3), round(m.low, 3), round(m.high, 3)
    (0.6, 0.352, 0.848)
    """
    from scipy.stats import t

    array = np.asarray(values, dtype=float)
    centre, n = float(array.mean()), len(array)
    reach = float(t.ppf((1 + level) / 2, n - 1) * array.std(ddof=1) / math.sqrt(n)) if n > 1 else math.inf
    return Measure(label, centre, centre - reach, centre + reach, n)


def shared_level(measures: int, level: float = 0.95) -> float:
    """The level of each of several intervals that shall hold together.

    >>> round(shared_level(5), 4)
    0.99
    """
    return 1 - (1 - level) / max(1, measures)


def judge(rule: str, measures: Sequence[Measure], **settings: Any) -> Verdict:
    """Apply a rule of the claims file.

    >>> judge("above", [Measure("gain", 0.2, 0.1, 0.3, 5)], limit=0)
    Verdict(word='confirmed', reason='')
    >>> judge("above", [Measure("gain", -0.2, -0.3, -0.1, 5)], limit=0).word
    'refuted'
    """
    if rule not in RULES:
        raise UnknownName("rule", rule, RULES)
    if not measures:
        return Verdict(NOT_COMPARABLE, UNREACHED)
    return RULES[rule](measures, **settings)


def _inside(measures: Sequence[Measure], low: float, high: float) -> Verdict:
    outside = [m for m in measures if m.high < low or m.low > high]
    if outside:
        which = f"{len(outside)} of {len(measures)}: {outside[0].label}" if len(measures) > 1 else ""
        return Verdict(REFUTED, which)
    if all(low <= m.low and m.high <= high for m in measures):
        return Verdict(CONFIRMED)
    return Verdict(UNDECIDED, ONE_RUN if any(m.n == 1 for m in measures) else REACHES_OVER)


def _above(measures: Sequence[Measure], *, limit: float) -> Verdict:
    return _inside(measures, limit, math.inf)


def _below(measures: Sequence[Measure], *, limit: float) -> Verdict:
    return _inside(measures, -math.inf, limit)


def _within(measures: Sequence[Measure], *, low: float, high: float) -> Verdict:
    return _inside(measures, low, high)


def _near(measures: Sequence[Measure], *, value: float, tolerance: float) -> Verdict:
    return _inside(measures, value - tolerance, value + tolerance)


def _not_comparable(measures: Sequence[Measure], *, reason: str) -> Verdict:
    return Verdict(NOT_COMPARABLE, reason)


RULES: dict[str, Callable[..., Verdict]] = {
    "above": _above,
    "below": _below,
    "within": _within,
    "near": _near,
    "not_comparable": _not_comparable,
}


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
