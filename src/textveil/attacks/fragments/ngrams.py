"""Counts of words, pairs and triples of words in a row, as sorted keys: what an adversary knows of a language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from textveil.attacks.fragments.seen import Sentences


class Ngrams(NamedTuple):
    """How often each stands in some texts; words below 0 are unknown, and nothing that has one is counted."""

    size: int  # words are below it; the key of a pair is a * size + b, of a triple (a * size + b) * size + c
    words: np.ndarray
    pairs: np.ndarray
    pair_counts: np.ndarray
    triples: np.ndarray
    triple_counts: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[Sentences], size: int) -> Self:
        """Count in all of the texts; a text ends where it ends.

        >>> counts = Ngrams.of([Sentences(np.array([0, 1, 0, 1]), np.array([0, 3, 4]))], 2)
        >>> counts.words.tolist(), counts.pairs.tolist(), counts.triples.tolist()
        ([2.0, 2.0], [1, 2], [2])
        """
        words = np.concatenate([np.asarray(text.words, np.int64) for text in texts])
        ends = np.zeros(len(words), bool)
        before = 0
        for text in texts:
            ends[before + np.asarray(text.starts)[1:][text.lengths() > 0] - 1] = True
            before += len(text.words)
        two = np.flatnonzero(~ends[:-1] & (words[:-1] >= 0) & (words[1:] >= 0))
        three = two[np.isin(two + 1, two, assume_unique=True)]
        pairs = np.unique(words[two] * size + words[two + 1], return_counts=True)
        triples = np.unique((words[three] * size + words[three + 1]) * size + words[three + 2], return_counts=True)
        single = np.bincount(words[words >= 0], minlength=size).astype(np.float64)
        return cls(size, single, pairs[0], pairs[1].astype(np.float64), triples[0], triples[1].astype(np.float64))


__all__ = ["Ngrams"]
