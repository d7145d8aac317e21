"""Sentence pairs as numbers: words with their places in the text, so that a phrase is cut out as it stands.

`blanks`: words are what stands between blanks, for text that is tokenised already (runs of blanks become one).
`words`: punctuation at the beginning or end of such a word is a word of its own; the text itself is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textveil.core.params import choice

TOKENS = ("blanks", "words")
LONGEST = 500  # words of a side; a longer pair is left out, and counted
_PIECE = re.compile(r"\w(?:\S*\w)?|[^\w\s]+")


@dataclass(frozen=True)
class Side:
    """One side of a batch of sentences: all words in a row, where each sentence starts, and where words stand in `text`."""

    text: str
    words: list[str]
    starts: np.ndarray  # of sentences, in `words`
    begins: np.ndarray  # of words, in `text`
    ends: np.ndarray

    def phrases(self, pairs: np.ndarray, first: np.ndarray, last: np.ndarray) -> list[str]:
        """The text of spans of words: sentence, first word, word after the last."""
        offset = self.starts[pairs]
        text = self.text
        spans = zip(self.begins[offset + first].tolist(), self.ends[offset + last - 1].tolist(), strict=True)
        return [text[a:b] for a, b in spans]


def side_of(sentences: Sequence[str], tokens: str = "blanks") -> Side:
    """Cut sentences into words.

    >>> side = side_of(["Take 2  tablets."], "words")
    >>> side.words, side.phrases(np.array([0]), np.array([1]), np.array([4]))
    (['Take', '2', 'tablets', '.'], ['2  tablets.'])
    """
    return _by_blanks(sentences) if choice("tokens", tokens, TOKENS) == "blanks" else _by_words(sentences)


def _by_blanks(sentences: Sequence[str]) -> Side:
    cut = [sentence.split() for sentence in sentences]
    words = [word for sentence in cut for word in sentence]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    ends = np.cumsum(lengths + 1) - 1
    return Side(" ".join(words), words, _starts([len(s) for s in cut]), ends - lengths, ends)


def _by_words(sentences: Sequence[str]) -> Side:
    text = "\n".join(s.replace("\n", " ") for s in sentences)
    found = list[tuple[int, int]]()
    sizes, offset = list[int](), 0
    for sentence in sentences:
        before = len(found)
        found += [(offset + m.start(), offset + m.end()) for m in _PIECE.finditer(sentence)]
        sizes.append(len(found) - before)
        offset += len(sentence) + 1
    places = np.array(found, np.int64).reshape(-1, 2)
    return Side(text, [text[a:b] for a, b in found], _starts(sizes), places[:, 0], places[:, 1])


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


class WordNumbers:
    """Words to numbers. New words get new numbers, or -1 and less once it is closed (equal words get equal ones)."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.closed = False

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, words: Sequence[str]) -> np.ndarray:
        """
        >>> numbers = WordNumbers()
        >>> numbers.of(["a", "b", "a"]).tolist()
        [0, 1, 0]
        """
        known = self._numbers
        if self.closed:
            return np.fromiter((known.get(w, -2 - (hash(w) & 0x3FFFFFFF)) for w in words), np.int32, len(words))
        return np.fromiter((known.setdefault(w, len(known)) for w in words), np.int32, len(words))


__all__ = ["LONGEST", "TOKENS", "Side", "WordNumbers", "side_of"]
