"""Tokens become rows of slots, the same number for every token, so that all of it is done by numpy at once.

A word has a few hashes of its own (itself, in lower case, its beginnings and endings, its shape), computed once per word
and remembered; the features of a token are those of itself and of its neighbours, each mixed with the number of its
family. CRC-32 of the standard library, then the finishing steps of MurmurHash3: no package is needed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_UPPER, _LOWER, _DIGIT = re.compile(r"[^\W\d_a-z]+"), re.compile(r"[a-z]+"), re.compile(r"\d+")
OWN = 13  # hashes that a word has
WORD, LOWER, SHAPE, SHORT_SHAPE = (
    0,
    1,
    2,
    3,
)  # then beginnings of 1 to 4 letters, endings of 1 to 4, and whether in the head
HEAD = 12  # the place of the flag "stands in the first line of the document"
# A feature: (own hash, place) alone, or two of them together.
SINGLE = (
    (WORD, 0), (LOWER, -2), (LOWER, -1), (LOWER, 0), (LOWER, 1), (LOWER, 2), (SHAPE, -1), (SHAPE, 0), (SHAPE, 1),
    (SHORT_SHAPE, -2), (SHORT_SHAPE, 2), *((k, 0) for k in range(4, 12)), (10, -1), (10, 1), (HEAD, 0),
)  # fmt: skip
PAIRS = (
    ((LOWER, -1), (LOWER, 0)), ((LOWER, 0), (LOWER, 1)), ((SHAPE, -1), (SHAPE, 0)), ((SHAPE, 0), (SHAPE, 1)),
    ((LOWER, -1), (SHAPE, 0)), ((LOWER, -2), (LOWER, -1)), ((LOWER, 1), (SHAPE, 0)), ((HEAD, 0), (LOWER, -1)),
)  # fmt: skip
WIDTH = 1 + len(SINGLE) + len(PAIRS)
LONGEST = 2_000  # tokens of one chain
_KNOWN_WORDS = 1 << 18  # remembered at most
_EDGE = 2  # neighbours that are looked at


def tokens_of(text: str) -> tuple[list[str], np.ndarray]:
    """Words and single signs, and where they stand: one (start, end) each.

    >>> tokens_of("Anna's dog.")[0]
    ['Anna', "'", 's', 'dog', '.']
    """
    hits = list(_TOKEN.finditer(text))
    places = np.array([hit.span() for hit in hits], np.int64).reshape(-1, 2)
    return [hit.group() for hit in hits], places


def chain_bounds(text: str, places: np.ndarray) -> list[int]:
    """Where chains begin, and the end: a new one after a line break, and none longer than `LONGEST`."""
    if not len(places):
        return [0]
    breaks = [k for k, sign in enumerate(text) if sign == "\n"] if "\n" in text else []
    cuts = sorted({0, *np.searchsorted(places[:, 0], breaks).tolist(), len(places)})
    return [k for a, b in pairwise(cuts) for k in range(a, b, LONGEST)] + [len(places)]


class WordHashes:
    """The own hashes of words, remembered."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._rows = np.zeros((1024, OWN - 1), np.uint32)

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """One row of hashes a word."""
        if len(self._number) > _KNOWN_WORDS:
            self._number.clear()
        numbers = self._number
        fresh = [w for w in dict.fromkeys(words) if w not in numbers]
        if fresh:
            self._add(fresh)
        return self._rows[[numbers[w] for w in words]]

    def _add(self, words: list[str]) -> None:
        first = len(self._number)
        if first + len(words) > len(self._rows):
            grown = np.zeros((2 * (first + len(words)), OWN - 1), np.uint32)
            grown[:first] = self._rows[:first]
            self._rows = grown
        for number, word in enumerate(words, first):
            self._number[word] = number
            self._rows[number] = own_hashes(word)


def own_hashes(word: str) -> list[int]:
    """The hashes of a word: itself, lower case, shape, short shape, beginnings, endings."""
    lower = word.lower()
    shape = _DIGIT.sub("0", _LOWER.sub("a", _UPPER.sub("A", word)))
    long_shape = "".join("A" if s.isupper() else "a" if s.isalpha() else "0" if s.isdigit() else s for s in word[:12])
    pieces = [lower[:k] for k in range(1, 5)] + [lower[-k:] for k in range(1, 5)]
    return [zlib.crc32(piece.encode("utf-8", "surrogatepass")) for piece in (word, lower, long_shape, shape, *pieces)]


class Batch(NamedTuple):
    """Tokens of several documents: where chains begin and, of documents with a head, (begin, end of the head, end)."""

    words: list[str]
    bounds: list[int]
    heads: list[tuple[int, int, int]]


def rows_of(batch: Batch, known: WordHashes, bits: int) -> np.ndarray:
    """The slots of all tokens, as a matrix; words beyond the ends of a chain are none."""
    if not batch.words:
        return np.zeros((0, WIDTH), np.uint32)
    own = np.zeros((len(batch.words), OWN), np.uint32)
    own[:, : OWN - 1] = known.rows(batch.words)
    for begin, head, end in batch.heads:
        own[head:end, HEAD] = 1 + np.isin(own[head:end, LOWER], own[begin:head, LOWER])
    near = _neighbours(own, batch.bounds)
    rows = np.zeros((len(batch.words), WIDTH), np.uint32)
    for number, (k, place) in enumerate(SINGLE, 1):
        rows[:, number] = _mixed(near[place][:, k], number)
    for number, ((a, i), (b, j)) in enumerate(PAIRS, len(SINGLE) + 1):
        rows[:, number] = _mixed(_mixed(near[i][:, a], 77) + near[j][:, b], number)
    return rows & np.uint32((1 << bits) - 1)


def _neighbours(own: np.ndarray, bounds: Sequence[int]) -> dict[int, np.ndarray]:
    """The hashes of the words at each distance; zero beyond the chain."""
    chain = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    near = {0: own}
    for distance in range(1, _EDGE + 1):
        for place in (-distance, distance):
            moved, same = np.zeros_like(own), np.zeros(len(own), bool)
            if place < 0:
                moved[distance:], same[distance:] = own[:-distance], chain[distance:] == chain[:-distance]
            else:
                moved[:-distance], same[:-distance] = own[distance:], chain[:-distance] == chain[distance:]
            near[place] = moved * same[:, None].astype(np.uint32)
    return near


def _mixed(values: np.ndarray, number: int) -> np.ndarray:
    """MurmurHash3's finish over a hash and the number of its family."""
    h = values ^ np.uint32((number * 0x9E3779B1) & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


__all__ = ["LONGEST", "WIDTH", "Batch", "WordHashes", "chain_bounds", "rows_of", "tokens_of"]
