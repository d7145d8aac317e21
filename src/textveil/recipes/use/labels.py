"""Labels of records as class numbers, and the fixed rule that divides records into folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textveil.core import BadInput

FOLDS = 5
MOST_CLASSES = 200


@dataclass(frozen=True)
class Labels:
    """Class numbers of the records in `rows`; the others have no label, or one that is too rare to learn."""

    rows: np.ndarray
    numbers: np.ndarray
    names: list[str]
    left_out: int

    def numbers_of(self, values: Sequence[object]) -> np.ndarray:
        """Class numbers of other records; -1 for labels that are not among these."""
        place = {name: number for number, name in enumerate(self.names)}
        return np.array([place.get(str(value), -1) for value in values], np.int64)


def labels_of(values: Sequence[object], field: str, *, least: int = FOLDS) -> Labels:
    """The labels of a file; those with fewer than `least` records are left out.

    >>> labels_of(["b", "a", None, "b"], "kind", least=1).numbers.tolist()
    [1, 0, 1]
    """
    names = [None if value is None or value == "" else str(value) for value in values]
    frequency = Counter(name for name in names if name is not None)
    kept = sorted(name for name, count in frequency.items() if count >= least)
    if len(frequency) > MOST_CLASSES or len(kept) < 2:
        what = f"{len(frequency)} different values, of which {len(kept)} occur {least} times or more"
        raise BadInput(
            f"holds no labels to learn: {what}", field=field, possible=f"2 to {MOST_CLASSES} labels, often repeated"
        )
    place = {name: number for number, name in enumerate(kept)}
    rows = [row for row, name in enumerate(names) if name in place]
    numbers = np.array([place[str(names[row])] for row in rows], np.int64)
    return Labels(np.array(rows, np.int64), numbers, kept, len(names) - len(rows))


def folds_of(numbers: np.ndarray, folds: int = FOLDS) -> np.ndarray:
    """The fold of each record, by a fixed rule: of each label the first goes to fold 0, the second to fold 1, and so on.

    >>> folds_of(np.array([0, 0, 1, 0, 1]), folds=2).tolist()
    [0, 1, 0, 0, 1]
    """
    fold = np.empty(len(numbers), np.int64)
    for number in np.unique(numbers):
        own = np.flatnonzero(numbers == number)
        fold[own] = np.arange(len(own)) % folds
    return fold


def spread_rows(count: int, most: int) -> np.ndarray:
    """At most `most` of so many rows, evenly spread over them: a fixed choice.

    >>> spread_rows(10, 4).tolist(), spread_rows(3, 4).tolist()
    ([0, 2, 5, 7], [0, 1, 2])
    """
    return np.arange(count) if count <= most else np.arange(most) * count // most
