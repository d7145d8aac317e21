"""The question by which two worlds are told apart best: "is the outcome in S?".

By Neyman and Pearson the best S collects the outcomes whose ratio between the worlds is largest. Outcomes (numbered) are
ordered by their ratio in a first sample of each world; of all sets of leading outcomes, from either world's end, the one with
the largest lower limit of the loss is taken, ln((lower limit of the one share - delta) / upper limit of the other). Fresh
outcomes must answer it: the sample that chose it cannot.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.integer[Any]]
SIDE = 0.99  # confidence of the limits by which questions are compared; what is reported has its own
_ALL_UP_TO = 256  # sets of so many outcomes are all tried, larger ones in steps of a tenth


class Question(NamedTuple):
    """ "Is the outcome in `asked`?", expected of the second world where `swapped`; `floor` is the loss it seems to show."""

    floor: float
    asked: Ids
    swapped: bool


def choose(first: Ids, second: Ids, size: int, side: float = SIDE, delta: float = 0.0) -> Question:
    """The set of outcomes (0 .. size - 1) whose share differs most between two samples, by the limits of its counts.

    >>> found = choose(np.repeat([0, 1, 2], [50, 40, 10]), np.repeat([0, 1, 2], [50, 5, 45]), 3)
    >>> found.asked.tolist(), found.swapped
    ([1], False)
    """
    counts = [np.bincount(world, minlength=size) for world in (first, second)]
    best = Question(-math.inf, np.empty(0, dtype=np.int64), False)
    for swapped in (False, True):
        true, false = counts[::-1] if swapped else counts
        tries = (len(second), len(first)) if swapped else (len(first), len(second))
        met = np.flatnonzero(true)
        order = met[np.argsort(-(true[met] + 0.5) / (false[met] + 0.5), kind="stable")]
        stops = _stops(len(order))
        floors = _floors(np.cumsum(true[order])[stops], np.cumsum(false[order])[stops], *tries, side, delta)
        place = int(floors.argmax())
        if floors[place] > best.floor:
            best = Question(float(floors[place]), order[: stops[place] + 1], swapped)
    return best


def _floors(hits: Ids, wrong: Ids, tries: int, false_tries: int, side: float, delta: float) -> NDArray[np.float64]:
    """The lower limit of the loss for many counts at once, as in Evidence."""
    from scipy.special import betaincinv

    lower = betaincinv(hits, tries - hits + 1, 1 - side)
    missed = false_tries - wrong
    upper = 1 - np.where(missed > 0, betaincinv(np.maximum(missed, 1), wrong + 1, 1 - side), 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(lower - delta, 0.0)) - np.log(upper)


def _stops(length: int) -> NDArray[np.int64]:
    """Places of the last outcome of the sets that are tried."""
    found = list(range(min(length, _ALL_UP_TO)))
    size = 1.1 * _ALL_UP_TO
    while size <= length:
        found.append(int(size) - 1)
        size *= 1.1
    return np.array(found, dtype=np.int64)
