"""The two-world audit: can the outputs of two neighbouring inputs be told apart better than the promise allows?

Claim. If the mechanism keeps its promise, `two_worlds` yields evidence that refutes it with probability at most 1 - level.

How. Half of the outputs of each world choose the question "is the output in S?", the other half answers it. The question is
fixed before it meets the second half, so the counts are binomial and `Evidence` applies: exact limits, no asymptotics.
Outcomes are cut into cells (the values themselves, with those that hardly repeat as one cell; and 64 bins per number), and S
is the set of cells that `attacks.questions` chooses. Values that the first half met once or twice say nothing of the second
half by themselves: as cells of their own they would promise a difference there and not keep it.

An audit can only refute. That a mechanism passes proves nothing; that the faulty ones of the test suite fail shows its power.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..attacks.evidence import Evidence
from ..attacks.questions import Question, choose
from ..core import Unit

_BINS = 64
_MOST_VALUES = 5_000
_FEWEST = 5  # times that a value is met by the first halves to be a cell of its own
Ids = NDArray[np.int64]


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
    questions = [_question(cut[0][: halves[0]], cut[1][: halves[1]], level, delta) for cut in cuts]
    best = max(range(len(cuts)), key=lambda cut: questions[cut].floor)
    question = questions[best]
    hits = [np.isin(ids[half:], question.asked) for ids, half in zip(cuts[best], halves, strict=True)]
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
        yield _without_rare(names.reshape(-1), split, halves)
    for column in range(joined.shape[1]):
        seen = np.concatenate([t[:half, column] for t, half in zip(tables, halves, strict=True)])
        edges = np.unique(np.quantile(seen, np.linspace(0, 1, _BINS + 1)[1:-1], method="nearest"))
        yield tuple(np.searchsorted(edges, t[:, column], side="right") for t in tables)  # type: ignore[misc]


def _without_rare(names: Ids, split: int, halves: list[int]) -> tuple[Ids, Ids]:
    """Numbered values of both worlds; those that the first halves hardly met have one number.

    >>> [ids.tolist() for ids in _without_rare(np.array([0] * 9 + [1] + [2, 3] * 5), 10, [10, 4])]
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 4], [4, 4, 4, 4, 4, 4, 4, 4, 4, 4]]
    """
    first, second = names[:split], names[split:]
    size = int(names.max()) + 1
    met = sum(np.bincount(ids[:half], minlength=size) for ids, half in zip((first, second), halves, strict=True))
    cells = np.where(met >= _FEWEST, np.arange(size), size)
    return cells[first], cells[second]


def _are_ids(table: NDArray[np.float64]) -> bool:
    """Whether outcomes are small whole numbers, which can serve as cells just as they are."""
    if table.shape[1] != 1:
        return False
    return bool((table >= 0).all() and (table <= _MOST_VALUES).all() and (table == np.floor(table)).all())


def _question(first: Ids, second: Ids, level: float, delta: float) -> Question:
    size = int(max(first.max(), second.max())) + 1
    return choose(first, second, size, 1 - (1 - level) / 2, delta)
