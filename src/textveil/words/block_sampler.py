"""Draw words with odds exp(-rate d), d measured to every word, without writing down every word's odds for every draw.

The vocabulary is cut into blocks. For an input w let P_b be the sum of exp(-rate (d(w, y) - c)) over the words y of block b,
in double precision, and S_b >= P_b a quick upper bound of it (c is any constant of w). A draw

    1. chooses a block with odds S_b,
    2. measures the words of that block exactly and keeps the block with chance P_b / S_b; else it begins anew,
    3. chooses a word y of the block with odds exp(-rate (d(w, y) - c)).

Claim. The word has exactly the odds exp(-rate d(w, y)), normalised over the vocabulary.

Derivation. One round ends with y with chance (S_b / S)(P_b / S_b)(p_y / P_b) = p_y / S, where S is the sum of all S_b: the
odds p_y up to a factor that does not depend on y, which is rejection sampling.

The bounds S_b are computed once for each distinct word, in single precision from *lower bounds* of its distances, and are
kept while the process lives (never in a file): they are facts about public vectors. They come within one part in a
thousand of P_b, so hardly a draw is rejected. What is left after many rounds is drawn from the whole row.

Rounding of the bounds. With u = 2^-24, K dimensions and norms |w|, |y|, a single-precision |w|^2 + |y|^2 - 2 w.y errs by at
most (K + 8) u (|w| + |y|)^2 (dot product: K u |w| |y|, Higham 2002, section 3.1; the rest a few roundings), which is
taken off before the root. Exponents err by 8 u rate D for distances up to D, sums by one u a term, exp by a few: `slack`.
A block of which nothing is left in single precision keeps a floor of 1e-30.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from textveil.noise import Source

BLOCKS = 256
ROUNDS = 32
_ROWS_AT_ONCE, _ROWS_IN_CACHE = 128, 4
_MOST_BYTES = 1 << 27  # of kept bounds; more begins anew
_U = 2.0**-24
_FLOOR = np.float32(1e-30)

LowerBounds = Callable[[np.ndarray], np.ndarray]  # rows -> (rows, words), float32, never above the distances
Distances = Callable[[np.ndarray, int, int], np.ndarray]  # rows, first and last word -> (rows, words), float64


def is_precise_enough(rate: float, diameter: float) -> bool:
    """Whether exponents up to rate * diameter leave bounds that are close to what they bound."""
    return 8 * _U * rate * diameter < 0.1


class BlockSampler:
    """Substitutes of rows, for distances that are at most `cut` (infinite: all as they are)."""

    def __init__(self, words: int, rate: float, cut: float, lower: LowerBounds, exact: Distances, blocks: int = BLOCKS):
        self._words, self.rate, self.cut, self._lower, self._exact = words, rate, cut, lower, exact
        size = -(-words // min(blocks, words))
        self.starts = np.arange(0, words, size)
        self._place: dict[int, int] = {}
        self._bounds = np.empty((0, len(self.starts)), dtype=np.float32)
        self._origin = np.empty(0)

    def draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        """A drawn word for each row."""
        places = self._prepare(rows)
        out, pending = np.empty(len(rows), dtype=np.int32), np.arange(len(rows))
        for _ in range(ROUNDS):
            if len(pending) == 0:
                return out
            pending = pending[~self._round(rows, places, pending, out, noise)]
        for place in pending.tolist():
            out[place] = self._from_whole_row(rows[place : place + 1], noise)
        return out

    def bounds(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """S_b of each row, and the constant c of it."""
        places = self._prepare(np.asarray(rows))
        return self._bounds[places].astype(np.float64), self._origin[places]

    def odds_in(self, rows: np.ndarray, origin: np.ndarray, block: int) -> np.ndarray:
        """exp(-rate (d - c)) of the words of a block: (rows, words of the block)."""
        first, last = self._span(block)
        distance = np.minimum(self._exact(rows, first, last), self.cut)
        return np.exp(-self.rate * (distance - origin[:, None]))

    def _span(self, block: int) -> tuple[int, int]:
        first = int(self.starts[block])
        return first, int(self.starts[block + 1]) if block + 1 < len(self.starts) else self._words

    def _round(
        self, rows: np.ndarray, places: np.ndarray, pending: np.ndarray, out: np.ndarray, noise: Source
    ) -> np.ndarray:
        """One try for each pending draw; writes what was accepted and returns which ones that were."""
        block_edge, keep_edge, word_edge = (noise.uniforms(len(pending)) for _ in range(3))
        blocks, bound = self._choose_blocks(places[pending], block_edge)
        accepted = np.zeros(len(pending), dtype=bool)
        order = np.argsort(blocks, kind="stable")
        ends = np.searchsorted(blocks[order], np.arange(len(self.starts) + 1))
        for block in np.flatnonzero(np.diff(ends)).tolist():
            tries = order[ends[block] : ends[block + 1]]
            odds = self.odds_in(rows[pending[tries]], self._origin[places[pending[tries]]], block)
            steps = np.cumsum(odds, axis=1)
            chosen = (steps <= (word_edge[tries] * steps[:, -1])[:, None]).sum(axis=1)
            out[pending[tries]] = self.starts[block] + np.minimum(chosen, odds.shape[1] - 1)
            accepted[tries] = keep_edge[tries] * bound[tries] < steps[:, -1]
        return accepted

    def _choose_blocks(self, places: np.ndarray, edge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A block for each draw with odds S_b, and that S_b."""
        distinct, which = np.unique(places, return_inverse=True)
        steps = np.cumsum(self._bounds[distinct].astype(np.float64), axis=1)
        blocks = np.empty(len(places), dtype=np.int64)
        for start in range(0, len(places), 4096):  # a few MB at a time
            part = slice(start, start + 4096)
            mine = steps[which[part]]
            blocks[part] = (mine <= (edge[part] * mine[:, -1])[:, None]).sum(axis=1)
        blocks = np.minimum(blocks, len(self.starts) - 1)
        return blocks, self._bounds[places, blocks].astype(np.float64)

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        """Where the bounds of each row stand; those that are missing are made."""
        distinct = np.unique(rows)
        if (len(self._place) + len(distinct)) * len(self.starts) * 4 > _MOST_BYTES:
            self._place, self._bounds, self._origin = {}, self._bounds[:0], self._origin[:0]
        missing = np.array([row for row in distinct.tolist() if row not in self._place], dtype=np.int64)
        made = [
            self._bounds_of(missing[start : start + _ROWS_AT_ONCE]) for start in range(0, len(missing), _ROWS_AT_ONCE)
        ]
        if made:
            first = len(self._bounds)
            self._place.update(zip(missing.tolist(), range(first, first + len(missing)), strict=True))
            self._bounds = np.concatenate([self._bounds, *(bounds for bounds, _ in made)])
            self._origin = np.concatenate([self._origin, *(origin for _, origin in made)])
        found = np.array([self._place[row] for row in distinct.tolist()], dtype=np.int64)
        return found[np.searchsorted(distinct, rows)]

    def _bounds_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lower = self._lower(rows)
        if math.isfinite(self.cut):
            np.minimum(lower, np.float32(self.cut), out=lower)
        origin = lower.min(axis=1)
        slack = np.expm1(8 * _U * self.rate * float(lower.max())) + 2 * _U * (self._words / len(self.starts) + 64)
        sums = np.empty((len(rows), len(self.starts)), dtype=np.float32)
        for part in _cached(len(rows)):
            odds = lower[part]
            odds -= origin[part, None]
            odds *= np.float32(-self.rate)
            np.exp(odds, out=odds)
            np.add.reduceat(odds, self.starts, axis=1, out=sums[part])
        return sums * np.float32(1 + slack) + _FLOOR, origin.astype(np.float64)

    def _from_whole_row(self, row: np.ndarray, noise: Source) -> int:
        distance = np.minimum(self._exact(row, 0, self._words), self.cut)[0]
        steps = np.cumsum(np.exp(-self.rate * (distance - distance.min())))
        return int(min(np.searchsorted(steps, noise.uniforms(1)[0] * steps[-1], side="right"), self._words - 1))


def euclidean_lower(points: np.ndarray, words: np.ndarray) -> LowerBounds:
    """Lower bounds of the distance from points (one for each row) to words, both in single precision.

    >>> points = np.array([[0.0, 0.0], [3.0, 4.0]], dtype=np.float32)
    >>> bounds = euclidean_lower(points, points)(np.array([0]))
    >>> bool(bounds[0, 0] == 0), bool(4.99 < bounds[0, 1] <= 5)
    (True, True)
    """
    point_norms, word_norms = ((m.astype(np.float64) ** 2).sum(axis=1) for m in (points, words))
    largest, turned = np.sqrt(word_norms.max()), np.ascontiguousarray(-2 * words.T)
    short_norms = word_norms.astype(np.float32)

    def lower(rows: np.ndarray) -> np.ndarray:
        error = (points.shape[1] + 8) * _U * (np.sqrt(point_norms[rows]) + largest) ** 2
        own = (point_norms[rows] - error).astype(np.float32)[:, None]
        square = points[rows] @ turned
        for part in _cached(len(rows)):
            line = square[part]
            line += short_norms
            line += own[part]
            np.maximum(line, 0, out=line)
            np.sqrt(line, out=line)
        return square

    return lower


def _cached(rows: int) -> Iterator[slice]:
    """A few rows at a time, so that what is done to them stays within the processor's cache."""
    return (slice(start, start + _ROWS_IN_CACHE) for start in range(0, rows, _ROWS_IN_CACHE))


def angular_lower(points: np.ndarray, words: np.ndarray) -> LowerBounds:
    """Lower bounds of the angle, by the chord between directions: angle = 2 arcsin(chord / 2).

    A direction in single precision is off by at most u, a vector of zeros has a right angle to all, which is more than the
    60 degrees that its chord of 1 gives.
    """

    def directions(vectors: np.ndarray) -> np.ndarray:
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        return (vectors / np.maximum(norms, 1e-300)).astype(np.float32)

    chord = euclidean_lower(directions(points), directions(words))

    def lower(rows: np.ndarray) -> np.ndarray:
        half = np.clip((chord(rows) - np.float32(4 * _U)) / 2, 0, 1)
        return 2 * np.arcsin(half) * np.float32(1 - 8 * _U)

    return lower


def hamming_lower(points: np.ndarray, words: np.ndarray) -> LowerBounds:
    """The Hamming distance itself, from 0/1 bits: sums of so few ones are exact in single precision."""
    first, second = points.astype(np.float32), np.ascontiguousarray(words.T, dtype=np.float32)
    point_ones, word_ones = first.sum(axis=1), second.sum(axis=0)

    def lower(rows: np.ndarray) -> np.ndarray:
        return point_ones[rows][:, None] + word_ones - 2 * (first[rows] @ second)

    return lower
