"""Distances in the metric of a mechanism's promise, and the two aggregates by which paper 03 compares metrics.

Carvalho, Vasiloudis, Feyisetan 2021, Definition A.2: P_max is the largest distance of two words, P_avg the mean over
all ordered pairs, a word with itself included. P_avg in Hamming space needs no pairs: bit j differs in 2 q_j (1 -
q_j) of them, q_j the share of ones. In the other metrics it is a mean over all pairs of small vocabularies and over
drawn pairs of large ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textveil.core import BadInput
from textveil.noise import Source
from textveil.text.codes import Codes, hamming
from textveil.words.geometry import angles, distances
from textveil.words.mechanism import WordMechanism
from textveil.words.search import HammingSearch

_PAIRS = 400_000
MEASURED = ("hamming", "euclidean", "angular", "mahalanobis")  # metrics whose distances are computed here
_ALL_PAIRS_UP_TO = 600  # words: 360,000 pairs
_AT_ONCE = 20_000
_CELLS_AT_ONCE = 2_000_000


def pair_distances(mechanism: WordMechanism, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The distance of input rows, pair by pair; the row after the last word is the point of unknown words.

    >>> from textveil.text.vectors import from_arrays
    >>> from textveil.words.laplace import Laplace
    >>> line = Laplace().fit(from_arrays(["a", "b", "c"], [[1.0], [2.0], [4.0]]))
    >>> pair_distances(line, np.array([0, 0]), np.array([1, 2])).tolist()
    [1.0, 3.0]
    """
    if mechanism.metric == "hamming":
        codes = _packed(mechanism)
        return hamming(codes[first], codes[second]).astype(np.float64)
    points, angular = _points(mechanism), mechanism.metric == "angular"
    found = np.empty(len(first))
    for start in range(0, len(first), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        found[some] = _apart(points[first[some]], points[second[some]], angular)
    return found


def nearest_distances(mechanism: WordMechanism, rows: np.ndarray) -> np.ndarray:
    """How far each of these words is from the nearest other word.

    >>> from textveil.text.vectors import from_arrays
    >>> from textveil.words.laplace import Laplace
    >>> line = Laplace().fit(from_arrays(["a", "b", "c"], [[1.0], [2.0], [4.0]]))
    >>> nearest_distances(line, np.array([0, 2])).tolist()
    [1.0, 2.0]
    """
    is_hamming = mechanism.metric == "hamming"
    points = (_packed if is_hamming else _points)(mechanism)[:-1]
    measure = _bits_apart if is_hamming else angles if mechanism.metric == "angular" else distances
    step = max(1, _CELLS_AT_ONCE // len(points))
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    return np.concatenate([_least(measure(points[part], points), part) for part in parts])


def _bits_apart(some: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.stack([hamming(codes, code) for code in some]).astype(np.float64)


def _least(apart: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The smallest distance to another word than the row's own."""
    apart[np.arange(len(rows)), rows] = np.inf
    return apart.min(axis=1)


def all_distances(mechanism: WordMechanism) -> np.ndarray:
    """The distance of every input row (unknown words last) from every other, without cancellation in near pairs."""
    if mechanism.metric == "hamming":
        codes = _packed(mechanism)
        return np.stack([hamming(codes, row) for row in codes]).astype(np.float64)
    points = _points(mechanism)
    if mechanism.metric == "angular":
        return np.stack([_apart(points, row[None], True) for row in points])
    from scipy.spatial.distance import cdist

    return cdist(points, points)


class Spread(NamedTuple):
    """Mean and largest distance of a vocabulary; `margin` is half of the mean's 95 % interval, 0 where it is exact."""

    mean: float
    margin: float
    largest: float

    def to_json(self) -> dict[str, Any]:
        return {"average": self.mean, "average_margin": self.margin, "maximum": self.largest}


def spread(mechanism: WordMechanism, noise: Source) -> Spread:
    """P_avg and P_max of the mechanism's metric over its words.

    >>> from textveil.noise import secure
    >>> from textveil.text.vectors import from_arrays
    >>> from textveil.words.laplace import Laplace
    >>> tuple(spread(Laplace().fit(from_arrays(["a", "b"], [[1.0], [4.0]])), secure()))[:2]
    (1.5, 0.0)
    """
    count = len(mechanism.vectors_)
    if mechanism.metric == "hamming":
        codes = _codes(mechanism)
        ones = codes.unpacked().mean(axis=0)
        return Spread(float((2 * ones * (1 - ones)).sum()), 0.0, _widest(codes.words64, codes.bits))
    if count <= _ALL_PAIRS_UP_TO:
        apart = all_distances(mechanism)[:-1, :-1]
        return Spread(float(apart.mean()), 0.0, float(apart.max()))
    first, second = noise.below(count, _PAIRS), noise.below(count, _PAIRS)
    apart = pair_distances(mechanism, first, second)
    return Spread(float(apart.mean()), float(1.96 * apart.std() / np.sqrt(_PAIRS)), mechanism.diameter())


def _widest(words64: np.ndarray, bits: int) -> float:
    """The largest Hamming distance: bits less the smallest distance to a complement."""
    mask = np.array([(1 << min(64, bits - 64 * i)) - 1 for i in range(words64.shape[1])], np.uint64)
    return float(bits - HammingSearch(words64, bits).distances_min(words64 ^ mask).min())


def _codes(mechanism: WordMechanism) -> Codes:
    codes = getattr(mechanism, "codes_", mechanism.vectors_.codes)
    if codes is None:
        raise BadInput(f"{mechanism.name} measures in Hamming space, but its vectors have no codes")
    return codes


def _packed(mechanism: WordMechanism) -> np.ndarray:
    codes = _codes(mechanism)
    return np.vstack([codes.words64, codes.fallback[None]])


def _points(mechanism: WordMechanism) -> np.ndarray:
    vectors = mechanism.vectors_
    points = np.vstack([vectors.matrix, vectors.fallback[None]]).astype(np.float64)
    if mechanism.metric == "mahalanobis":
        return points @ mechanism._inverse  # type: ignore[attr-defined]
    if mechanism.metric not in MEASURED:
        raise BadInput(f"{mechanism.name} measures in '{mechanism.metric}', whose distances are not known here")
    return points


def _apart(first: np.ndarray, second: np.ndarray, angular: bool) -> np.ndarray:
    if not angular:
        return np.linalg.norm(first - second, axis=1)
    unit = [m / np.maximum(np.linalg.norm(m, axis=1, keepdims=True), 1e-300) for m in (first, second)]
    chord = np.linalg.norm(unit[0] - unit[1], axis=1)
    return 2 * np.arcsin(np.minimum(chord / 2, 1.0))  # accurate for near directions, where arccos is not
