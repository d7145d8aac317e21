"""What an adversary of fragments has: the phrase pairs of the folder; perhaps public text in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from textveil.attacks.exposure import Exposure, Ids, Truth
from textveil.core import BadInput

SIDES = ("source", "target")


@dataclass(frozen=True, eq=False)
class Sentences:
    """Lists of words as numbers, in a row."""

    words: Ids
    starts: Ids

    def __len__(self) -> int:
        return len(self.starts) - 1

    def lengths(self) -> Ids:
        return np.diff(self.starts)

    def take(self, places: Ids) -> Sentences:
        """Some of them, in the order of `places`."""
        lengths = self.lengths()[places]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shift = np.repeat(np.asarray(self.starts)[:-1][places] - starts[:-1], lengths)
        return Sentences(np.asarray(self.words)[np.arange(starts[-1]) + shift], starts)

    def __getitem__(self, place: int) -> Ids:
        return self.words[self.starts[place] : self.starts[place + 1]]


@dataclass(frozen=True, eq=False)
class OriginalPairs(Truth):
    """The sentence pairs that were cut, word by word; -1 is a word that no fragment has. `ids` are the source words."""

    starts: Ids
    target: Sentences

    @property
    def source(self) -> Sentences:
        return Sentences(self.ids, self.starts)

    def shuffled(self, order: Ids) -> Self:
        """The same words in other places, on both sides."""
        other = np.argsort((np.arange(len(self.target.words)) * 7919 + int(order[0])) % 104729, kind="stable")
        moved = Sentences(np.asarray(self.target.words)[other], self.target.starts)
        return type(self)(np.asarray(self.ids)[order], self.starts, moved)


@dataclass(frozen=True)
class FragmentsSeen(Exposure):
    """Phrase pairs, each type once, with the number of times it was released; words as numbers, of two vocabularies.

    `public`: sentences in each of the two languages, in the same numbers (-1: a word that no fragment has), from
    which the adversary learns which words follow each other.
    """

    source: Sentences
    target: Sentences
    counts: Ids
    public: tuple[Sentences, Sentences] | None = None
    truth: OriginalPairs | None = None
    kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)  # what attacks put together

    def __post_init__(self) -> None:
        if not len(self.source) == len(self.target) == len(self.counts):
            raise BadInput("each fragment needs two sides and a count")

    def sides(self, side: str) -> tuple[Sentences, Sentences]:
        """The side to put together, and the other one, which bears witness."""
        return (self.source, self.target) if side == "source" else (self.target, self.source)


class Numbers:
    """Words to numbers; closed, unknown words are -1."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.closed = False

    def of(self, texts: Sequence[Sequence[str]]) -> Sentences:
        """
        >>> Numbers().of([["a", "b"], ["a"]]).words.tolist()
        [0, 1, 0]
        """
        known, words = self.known, [word for text in texts for word in text]
        if self.closed:
            numbers = [known.get(word, -1) for word in words]
        else:
            numbers = [known.setdefault(word, len(known)) for word in words]
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        return Sentences(np.array(numbers, np.int64), starts)


__all__ = ["SIDES", "FragmentsSeen", "Numbers", "OriginalPairs", "Sentences"]
