"""Texts as bags of words over one common vocabulary, so that released and clear texts can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from textveil.text import tokens


@dataclass(frozen=True)
class Bags:
    """Counts of words, one row per text; the columns are `words`."""

    counts: sparse.csr_array
    words: list[str]

    def take(self, rows: np.ndarray) -> Bags:
        return Bags(self.counts[rows], self.words)

    def __len__(self) -> int:
        return int(self.counts.shape[0])


def bags_of(*collections: Iterable[str]) -> list[Bags]:
    """The bags of several collections of texts, all over the words that occur in any of them.

    >>> first, second = bags_of(["tea, tea"], ["cold TEA"])
    >>> first.words, first.counts.toarray().tolist(), second.counts.toarray().tolist()
    (['tea', 'cold'], [[2, 0]], [[1, 1]])
    """
    place: dict[str, int] = {}
    parts = [_counted(texts, place) for texts in collections]
    words = list(place)
    return [Bags(_matrix(rows, starts, len(words)), words) for rows, starts in parts]


def _counted(texts: Iterable[str], place: dict[str, int]) -> tuple[list[int], list[int]]:
    columns: list[int] = []
    starts = [0]
    for text in texts:
        columns.extend([place.setdefault(tokens.fold(word), len(place)) for word in tokens.words(text)])
        starts.append(len(columns))
    return columns, starts


def _matrix(columns: Sequence[int], starts: Sequence[int], width: int) -> sparse.csr_array:
    ones = np.ones(len(columns), np.int32)
    made = sparse.csr_array(
        (ones, np.array(columns, np.int32), np.array(starts, np.int32)), shape=(len(starts) - 1, width)
    )
    made.sum_duplicates()
    return made
