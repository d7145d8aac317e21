"""words.exponential: draw a word with odds that fall exponentially with its distance, in any metric.

Claim. P[M(w) = y] proportional to exp(-epsilon d(w, y) / 2) satisfies P[M(w) = y] <= exp(epsilon d(w, w')) P[M(w') = y] for
every metric d.

Derivation. The numerators differ by at most exp(epsilon d(w, w') / 2) by the triangle inequality, and so do the sums over
the vocabulary that normalise them, in the other direction.

The odds are known exactly, so the mechanism can be certified by enumeration (`odds`). Distances: euclidean and angular
(the angle between vectors, in radians) on the vectors, hamming on the codes.

Source: McSherry and Talwar 2007; Chatzikokolakis et al. 2013 for metrics.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from textveil.core import BadInput
from textveil.core.params import choice
from textveil.noise import Source
from textveil.text.codes import Codes, hamming, unpack
from textveil.words.block_sampler import (
    BlockSampler,
    angular_lower,
    euclidean_lower,
    hamming_lower,
    is_precise_enough,
)
from textveil.words.geometry import angles, distances, euclidean_diameter
from textveil.words.mechanism import WordMechanism

METRICS = ("euclidean", "angular", "hamming")
ROWS_AT_ONCE = 64
MOST_BY_WHOLE_ROWS = 1_000  # words; a larger vocabulary is drawn from block by block


class Exponential(WordMechanism):
    """Draw each word's substitute by the exponential mechanism.

    Parameters
    ----------
    epsilon
        Loss per unit of distance between two words: a word at distance d has odds e^(-epsilon d / 2).
    distance
        "euclidean" or "angular" between vectors, or "hamming" between binary codes.

    Examples
    --------
    >>> from textveil.text.vectors import from_arrays
    >>> words = from_arrays(["cold", "cool", "warm", "hot"], [[-2.0], [-1.0], [1.0], [2.0]])
    >>> Exponential(epsilon=2).fit(words).odds([0]).round(3).tolist()
    [[0.696, 0.256, 0.035, 0.013]]
    """

    name: ClassVar[str] = "words.exponential"
    source: ClassVar[str] = "McSherry and Talwar 2007, with a metric as utility (Chatzikokolakis et al. 2013)"
    rounding: ClassVar[str] = "odds are computed in double precision: words rarer than 2^-53 never occur"

    fitted_parameters: ClassVar[tuple[str, ...]] = ("vectors", "keep", "distance")

    def __init__(
        self,
        epsilon: float = 3.0,
        distance: str = "euclidean",
        *,
        vectors: Any = None,
        oov: str = "draw",
        keep: str | Iterable[str] = (),
        case: str = "sentence",
        once: bool = False,
        kinds: bool = False,
        kinds_epsilon: float = 1.0,
        seed: int | None = None,
    ):
        self.epsilon, self.distance, self.vectors, self.oov, self.keep = epsilon, distance, vectors, oov, keep
        self.case, self.once, self.kinds, self.kinds_epsilon, self.seed = case, once, kinds, kinds_epsilon, seed

    def _check(self) -> None:
        super()._check()
        choice("distance", self.distance, METRICS)

    def _prepare(self) -> None:
        self.__dict__.pop("_blocks", None)
        if self.distance == "hamming":
            self._codes()
        self._points = np.vstack([self.vectors_.matrix, self.vectors_.fallback[None]]).astype(np.float64)

    @property
    def metric(self) -> str:  # type: ignore[override]
        return self.distance

    def _codes(self) -> Codes:
        if self.vectors_.codes is None:
            raise BadInput("hamming distance needs binary codes", possible="textveil vectors build")
        return self.vectors_.codes

    def metric_id(self) -> str:
        """That of every mechanism in this metric on these vectors, so that their losses add."""
        if self.distance == "hamming":
            return self._codes().fingerprint
        if self.distance == "euclidean":
            return self.vectors_.fingerprint
        return hashlib.blake2b(f"{self.vectors_.fingerprint} {self.distance}".encode(), digest_size=16).hexdigest()

    def diameter(self) -> float:
        if self.distance == "hamming":
            return float(self._codes().bits)
        return float(np.pi) if self.distance == "angular" else euclidean_diameter(self.vectors_)

    def distances(self, rows: np.ndarray | list[int]) -> np.ndarray:
        """Distance from each input row (the last row is the point of unknown words) to each word."""
        return self._distances(np.asarray(rows, dtype=np.int64), 0, len(self.vectors_))

    def _distances(self, rows: np.ndarray, first: int, last: int) -> np.ndarray:
        """Distance from each input row to the words from `first` up to `last`."""
        if self.distance == "hamming":
            codes = self._codes()
            points = np.vstack([codes.words64, codes.fallback[None]])
            return hamming(points[rows][:, None, :], codes.words64[None, first:last]).astype(np.float64)
        measure = angles if self.distance == "angular" else distances
        apart = measure(self._points[rows], self._points[:-1][first:last])
        apart[rows[:, None] == np.arange(first, last)] = 0.0  # exact, where rounding left a little
        return apart

    @property
    def _cut(self) -> float:
        """Beyond this distance all words are alike."""
        return math.inf

    def odds(self, rows: np.ndarray | list[int]) -> np.ndarray:
        """Exact odds of each word in the place of each row."""
        score = -0.5 * self.epsilon * np.minimum(self.distances(rows), self._cut)
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    @cached_property
    def _blocks(self) -> BlockSampler:
        """The sampler for large vocabularies. What it keeps is made from public vectors, and stays out of copies."""
        words, rate, cut = len(self.vectors_), 0.5 * float(self.epsilon), self._cut
        if self.distance == "hamming":
            codes = self._codes()
            bits = unpack(np.vstack([codes.words64, codes.fallback[None]]), codes.bits)
            return BlockSampler(words, rate, cut, hamming_lower(bits, bits[:-1]), self._distances)
        points = self._points.astype(np.float32)
        lower = angular_lower if self.distance == "angular" else euclidean_lower
        return BlockSampler(words, rate, cut, lower(points, points[:-1]), self._distances)

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        longest = min(self.diameter(), self._cut)
        if len(self.vectors_) > MOST_BY_WHOLE_ROWS and is_precise_enough(0.5 * self.epsilon, longest):
            if (self._blocks.rate, self._blocks.cut) != (0.5 * float(self.epsilon), self._cut):
                del self._blocks  # a parameter was set since
            return self._blocks.draw(rows, noise)
        return self._draw_by_whole_rows(rows, noise)

    def _draw_by_whole_rows(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        out = np.empty(len(rows), dtype=np.int32)
        distinct, which = np.unique(rows, return_inverse=True)
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(distinct) + 1))
        edges = noise.uniforms(len(rows))
        for start in range(0, len(distinct), ROWS_AT_ONCE):
            cumulative = np.cumsum(self.odds(distinct[start : start + ROWS_AT_ONCE]), axis=1)
            for i, line in enumerate(cumulative, start):
                places = order[ends[i] : ends[i + 1]]
                out[places] = np.searchsorted(line, edges[places] * line[-1], side="right")
        return np.minimum(out, len(self.vectors_) - 1)
