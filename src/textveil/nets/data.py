"""Texts as numbers: a table of words, rows padded to one length, bags laid end to end.

Row 0 is padding and row 1 every word that the table does not know; words follow, the most frequent first, ties by
spelling, so that the same texts always give the same table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import BadInput
from ..core.inputs import check_texts
from ..text import tokens

Rows = NDArray[np.int64]

PADDING, UNKNOWN, FIRST = 0, 1, 2


class WordTable:
    """Words and their rows.

    >>> table = WordTable.of(["the cat, the dog", "The end"], min_count=1)
    >>> [table.words[row - FIRST] if row >= FIRST else "?" for row in table.rows("the end of DOG")]
    ['the', 'end', '?', 'dog']
    """

    def __init__(self, words: Iterable[str]):
        self.words = list(words)
        self._row = {word: row for row, word in enumerate(self.words, start=FIRST)}

    @classmethod
    def of(cls, texts: Sequence[str], *, min_count: int = 1, most: int | None = None) -> WordTable:
        """The words of some texts that occur often enough; at most `most` of them."""
        seen = Counter(word for text in checked(texts) for word in folded(text))
        ranked = sorted((word for word, count in seen.items() if count >= min_count), key=lambda w: (-seen[w], w))
        return cls(ranked[:most])

    def __len__(self) -> int:
        """Rows that an embedding of this table needs."""
        return len(self.words) + FIRST

    def rows(self, text: str, most: int | None = None) -> Rows:
        """The rows of a text's words; of the first `most` where that is given."""
        find = self._row.get
        return np.array([find(word, UNKNOWN) for word in folded(text)[:most]], dtype=np.int64)


def folded(text: str) -> list[str]:
    return tokens.words(tokens.fold(text))  # the same words as folding one by one, several times as fast


def checked(texts: Sequence[str]) -> Sequence[str]:
    """The texts, if they are a sequence of strings. A single string would be read letter by letter."""
    check_texts(texts)
    return texts


def pad(rows: Sequence[Rows]) -> tuple[Rows, Rows]:
    """Rows of one length, and how much of each is text. A text without words becomes one unknown word.

    >>> padded, lengths = pad([np.array([5, 6]), np.array([], dtype=int)])
    >>> padded.tolist(), lengths.tolist()
    ([[5, 6], [1, 0]], [2, 1])
    """
    filled = [row if len(row) else np.array([UNKNOWN]) for row in rows]
    lengths = np.array([len(row) for row in filled], dtype=np.int64)
    padded = np.full((len(filled), int(lengths.max(initial=0))), PADDING, dtype=np.int64)
    for number, row in enumerate(filled):
        padded[number, : len(row)] = row
    return padded, lengths


def bags(rows: Sequence[Rows]) -> tuple[Rows, Rows]:
    """All rows end to end, and where each bag begins; a bag may be empty.

    >>> flat, starts = bags([np.array([5, 6]), np.array([], dtype=int), np.array([7])])
    >>> flat.tolist(), starts.tolist()
    ([5, 6, 7], [0, 2, 2])
    """
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    flat = np.concatenate(rows) if len(rows) else np.empty(0, dtype=np.int64)
    return flat.astype(np.int64, copy=False), np.cumsum(lengths) - lengths


def with_pairs(rows: Rows, first: int, buckets: int) -> Rows:
    """A text's rows followed by those of its neighbouring pairs, which share `buckets` rows from `first` on by hash.

    >>> with_pairs(np.array([2, 3]), first=10, buckets=1).tolist()
    [2, 3, 10]
    """
    if not buckets or len(rows) < 2:
        return rows
    left, right = rows[:-1].astype(np.uint64), rows[1:].astype(np.uint64)
    mixed = left * np.uint64(0x9E3779B97F4A7C15) + right * np.uint64(0xC2B2AE3D27D4EB4F)  # modulo 2^64
    mixed ^= mixed >> np.uint64(29)
    return np.concatenate([rows, first + (mixed % np.uint64(buckets)).astype(np.int64)])


def class_numbers(labels: Sequence[Any], texts: int) -> tuple[NDArray[Any], Rows]:
    """The distinct labels in order, and the number of each label's class."""
    labels = np.asarray(labels)
    if labels.shape != (texts,):
        raise BadInput(f"{texts} texts need {texts} labels, not {labels.shape}")
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise BadInput("a classifier needs texts of two classes or more")
    return classes, numbers.astype(np.int64)
