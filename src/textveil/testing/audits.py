"""The two-world audit: can the outputs of two neighbouring inputs be told apart better than the promise allows?

Claim. If the mechanism keeps its promise, `two_worlds` yields evidence that refutes it with probability at most 1 - level.

How. Half of the outputs of each world choose the question "is the output in S?", the other half answers it. The question is
fixed before it meets the second half, so the counts are binomial and `Evidence` applies: exact limits, no asymptotics.
By Neyman and Pearson the best S collects the outcomes whose ratio between the worlds is largest. Outcomes are cut into
cells (the values themselves where they repeat; else 64 bins per number), ordered by their ratio in the first half, and of
all sets of leading cells, from either world's end, the one with the largest lower limit of the loss is taken.

An audit can only refute. That a mechanism passes proves nothing; that the faulty ones of the test suite fail shows its power.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..attacks.evidence import Evidence
from ..core import Unit

_BINS = 64
_MOST_VALUES = 5_000
Ids = NDArray[np.int64]


class Question(NamedTuple):
    """Cells of one cut that speak for one world, and the lower limit of the loss that they showed in the first half."""

    floor: float
    cut: int
    cells: Ids
    swapped: bool  # the cells speak for the second world


def two_worlds(
    first: NDArray[Any],
    second: NDArray[Any],
    *,
    level: float,
    unit: Unit = Unit.WORD,
    distance: float | None = None,
    delta: float = 0.0,
    note: str = "",
) -> Evidence:
    """Evidence from outcomes in two worlds: arrays of shape (tries,) or (tries, numbers).

    >>> from textveil.noise import seeded
    >>> coins = seeded(1).uniforms((2, 4000)) < np.array([[0.9], [0.1]])
    >>> found = two_worlds(coins[0], coins[1], level=0.999)
    >>> 1.8 < found.epsilon_floor(0.999) < 2.2   # the truth is ln 9 = 2.197
    True
    """
    tables = _table(first), _table(second)
    halves = [len(t) // 2 for t in tables]
    if min(halves) == 0:
        raise ValueError("an audit needs two tries or more in each world")
    cuts = list(_cuts(tables, halves))
    learnt = [tuple(ids[:half] for ids, half in zip(cut, halves, strict=True)) for cut in cuts]
    question = max(_questions(learnt, 1 - level, delta), key=lambda q: q.floor)
    hits = [np.isin(ids[half:], question.cells) for ids, half in zip(cuts[question.cut], halves, strict=True)]
    true, false = reversed(hits) if question.swapped else hits
    balance = (float(true.mean()) + 1 - float(false.mean())) / 2
    return Evidence(
        "two_worlds",
        "success",
        balance,
        0.5,
        int(true.sum()),
        len(true),
        unit=unit,
        distance=distance,
        false_hits=int(false.sum()),
        false_tries=len(false),
        notes=(note,) if note else (),
    )


def _table(outcomes: NDArray[Any]) -> NDArray[np.float64]:
    table = np.asarray(outcomes, dtype=np.float64)
    return table.reshape(len(table), -1)


def _cuts(tables: tuple[NDArray[np.float64], ...], halves: list[int]) -> Iterator[tuple[Ids, Ids]]:
    """Ways to cut outcomes into numbered cells. Bins are laid by the first halves; numbering equal values tells nothing."""
    if all(_are_ids(t) for t in tables):
        yield tuple(t[:, 0].astype(np.int64) for t in tables)  # type: ignore[misc]
        return
    joined = np.concatenate(tables)
    split = len(tables[0])
    values, names = np.unique(joined, axis=0, return_inverse=True)
    if len(values) <= _MOST_VALUES:
        names = names.reshape(-1)
        yield names[:split], names[split:]
    for column in range(joined.shape[1]):
        seen = np.concatenate([t[:half, column] for t, half in zip(tables, halves, strict=True)])
        edges = np.unique(np.quantile(seen, np.linspace(0, 1, _BINS + 1)[1:-1], method="nearest"))
        yield tuple(np.searchsorted(edges, t[:, column], side="right") for t in tables)  # type: ignore[misc]


def _are_ids(table: NDArray[np.float64]) -> bool:
    """Whether outcomes are small whole numbers, which can serve as cells just as they are."""
    if table.shape[1] != 1:
        return False
    return bool((table >= 0).all() and (table <= _MOST_VALUES).all() and (table == np.floor(table)).all())


def _questions(learnt: list[tuple[Ids, ...]], alpha: float, delta: float) -> Iterator[Question]:
    """The best leading cells of each cut and each world."""
    for number, (first, second) in enumerate(learnt):
        size = int(max(first.max(), second.max())) + 1
        counts = np.bincount(first, minlength=size), np.bincount(second, minlength=size)
        for swapped in (False, True):
            true, false = reversed(counts) if swapped else counts
            order = np.argsort(-(true + 0.5) / (false + 0.5), kind="stable")
            floors = _floors(
                np.cumsum(true[order]), np.cumsum(false[order]), len(first), len(second), swapped, alpha, delta
            )
            best = int(floors.argmax())
            yield Question(float(floors[best]), number, order[: best + 1], swapped)


def _floors(true: Ids, false: Ids, first: int, second: int, swapped: bool, alpha: float, delta: float) -> NDArray[Any]:
    """ln((lower limit of the one - delta) / upper limit of the other), as in Evidence, for many counts at once."""
    from scipy.special import betaincinv

    tries, false_tries = (second, first) if swapped else (first, second)
    lower = np.where(true > 0, betaincinv(np.maximum(true, 1), tries - true + 1, alpha / 2), 0.0)
    missed = false_tries - false
    upper = 1 - np.where(missed > 0, betaincinv(np.maximum(missed, 1), false + 1, alpha / 2), 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(lower - delta, 0.0)) - np.log(upper)
