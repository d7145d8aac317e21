"""In how many documents a slot stands in plain words: what decides which rows a quiet seal keeps.

A word is plain if WRITTEN_SMALL documents or more write it in lower case: then "The", "AGREEMENT" and the defined term
"Licensee" are plain wherever they stand, since other documents write "the", "agreement" and "licensee". Names and places
are not; nor is anything with a digit (amounts, dates), but for whole numbers of one or two digits ("30 days"), which say
little about anyone. A document counts for a slot if the slot is in a row of the document and in no row of a word that is
not plain.

Claim. A term that fewer than WRITTEN_SMALL documents write in lower case counts for no slot of its own, however many
documents hold it: every feature that it is part of is in its row (pairs are in the rows of both words), so no document
counts for any of them. What is left are other features that fall into the same slot.

Limits. Where a script has no case every word is plain, and only the count protects; a name that is also a word ("Will",
"apple") is plain. Neither is hidden if k documents or more hold it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.hashed.features import Slots

WRITTEN_SMALL = 3
SHORT_NUMBER = 2


class WordNumbers:
    """Numbers the words of a corpus, upper case as lower case, and counts the documents that write each in lower case."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._small: list[int] = []

    def add(self, words: Sequence[str]) -> np.ndarray:
        """The number of each token of one more document.

        >>> numbers = WordNumbers()
        >>> numbers.add("The law of Texas is the law".split()).tolist()
        [0, 1, 2, 3, 4, 0, 1]
        """
        number = {}
        for word in dict.fromkeys(words):
            small = word.lower()
            own = self._numbers.setdefault(small, len(self._numbers))
            if own == len(self._small):
                self._small.append(0)
            if _written_small(word):
                self._small[own] += 1
            number[word] = own
        return np.fromiter((number[w] for w in words), np.int32, len(words))

    def plain(self) -> np.ndarray:
        """Whether each word is plain, by number."""
        return np.array(self._small, np.int64) >= WRITTEN_SMALL


def _written_small(word: str) -> bool:
    """
    >>> [_written_small(w) for w in ("law", "Law", "LAW", "30", "2018", "b2")]
    [True, False, False, True, False, False]
    """
    if any(map(str.isdigit, word)):
        return len(word) <= SHORT_NUMBER and word.isdigit()
    return word == word.lower() and not word.isupper()


def plain_slots(plain: np.ndarray, slots: Slots) -> np.ndarray:
    """The slots that a document counts for, sorted; `plain` says it of each of its tokens.

    >>> rows = Slots(np.array([7, 3, 3, 5, 5], np.uint32), np.array([0, 2, 4, 5]))    # of: 7, 3; Texas: 3, 5; law: 5
    >>> plain_slots(np.array([True, False, True]), rows).tolist()
    [7]
    """
    of_plain = np.repeat(plain, np.diff(slots.starts))
    return np.setdiff1d(slots.indices[of_plain], slots.indices[~of_plain])
