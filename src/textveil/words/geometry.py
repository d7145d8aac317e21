"""Public geometry of the vectors: the largest distance between two of them.

The diameter is exact and cheap because most words cannot be an end of it. With c the centre, r_i = ||v_i - c|| and L any
distance seen so far, a pair (i, j) can only beat L if r_i + r_j > L; so only words with r_i > L - max r are compared.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from textveil.text.vectors import Vectors

_NEAR = 1e-3  # of the squared norms
_PAIRS_AT_ONCE = 10_000
_ONE_THREAD = 1 << 18  # multiplications


@lru_cache(maxsize=8)
def euclidean_diameter(vectors: Vectors) -> float:
    """The largest Euclidean distance between two words, or a word and the fallback point; rounded up a little.

    >>> from textveil.text.vectors import from_arrays
    >>> round(euclidean_diameter(from_arrays(["a", "b", "c"], [[0.0, 1.0], [3.0, 1.0], [3.0, 5.0]])), 6)
    5.0
    """
    points = np.vstack([vectors.matrix, vectors.fallback[None]]).astype(np.float64)
    return diameter(points) * (1 + 1e-9)


def diameter(points: np.ndarray) -> float:
    """The exact diameter of a cloud of points (float64)."""
    points = points - points.mean(axis=0)
    radius = np.linalg.norm(points, axis=1)
    best = _stretch(points, int(radius.argmax()))
    ends = np.flatnonzero(radius > best - radius.max())
    ends = ends[np.argsort(-radius[ends])]
    for number, i in enumerate(ends):
        reach = int(np.searchsorted(-radius[ends], -(best - radius[i]), side="left"))  # partners with r_j > best - r_i
        rivals = ends[number + 1 : reach]
        if len(rivals) == 0:
            break
        best = max(best, float(np.linalg.norm(points[rivals] - points[i], axis=1).max()))
    return best


def distances(points: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Euclidean distance of each point to each word (float64): by one matrix product, near pairs by their difference.

    The product errs by about 1e-14 of the squared norms, and its root by as much over the distance: 1e-6 for two equal
    vectors of norm 33, enough to break the triangle inequality. Pairs nearer than a thirtieth of their norms are few.

    >>> far = np.full((2, 3), 1e6)
    >>> distances(far, far).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    norms = (points**2).sum(1)[:, None] + (words**2).sum(1)
    square = norms - 2 * _product(points, words)
    near = np.argwhere(square < _NEAR * norms)
    for start in range(0, len(near), _PAIRS_AT_ONCE):
        i, j = near[start : start + _PAIRS_AT_ONCE].T
        square[i, j] = ((points[i] - words[j]) ** 2).sum(axis=1)
    return np.sqrt(square)


def _product(points: np.ndarray, words: np.ndarray) -> np.ndarray:
    """points @ words.T, a product of middling size in pieces that BLAS does not spread over threads: waiting costs more."""
    rows = _ONE_THREAD // words.size
    if rows < 1 or rows >= len(points):
        return points @ words.T
    return np.concatenate([points[start : start + rows] @ words.T for start in range(0, len(points), rows)])


def angles(points: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Angle between each point and each word, in radians: a metric on directions.

    arccos loses half of the digits near 0 and pi (an error of 1e-16 in the cosine is one of 1e-8 in the angle, enough to
    break the triangle inequality), so such pairs are measured by their chord: angle = 2 arcsin(||u - v|| / 2).

    >>> angles(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])).round(6).tolist()
    [[0.0, 1.570796, 3.141593]]
    """
    u, v = (m / np.maximum(np.linalg.norm(m, axis=1, keepdims=True), 1e-300) for m in (points, words))
    cosine = u @ v.T
    found = np.arccos(np.clip(cosine, -1.0, 1.0))
    for i, j in np.argwhere(np.abs(cosine) > 1 - 1e-4):
        chord = np.linalg.norm(u[i] - np.sign(cosine[i, j]) * v[j])
        near = 2 * np.arcsin(min(float(chord) / 2, 1.0))
        found[i, j] = near if cosine[i, j] > 0 else np.pi - near
    return found


def _stretch(points: np.ndarray, start: int) -> float:
    """A long distance, found by walking to the farthest point a few times: a lower bound to prune with."""
    best, here = 0.0, start
    for _ in range(8):
        away = np.linalg.norm(points - points[here], axis=1)
        here = int(away.argmax())
        if away[here] <= best:
            break
        best = float(away[here])
    return best
