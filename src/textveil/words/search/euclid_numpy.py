"""Euclidean neighbours with numpy alone: a float32 matrix product screens, float64 decides.

Claim. The k words of least float64 distance are among the survivors.

Derivation. With x = v - mean and y = q - mean, ||q - v||^2 = ||y||^2 + 2 s, where s = ||x||^2 / 2 - x.y. In float32, with
unit roundoff u = 2^-24, any order of summation gives s up to (d + 8) u (||x||^2 / 2 + ||x|| ||y||) (Higham, "Accuracy and
stability of numerical algorithms", 3.1; 8 covers the rounding of x, y and ||x||^2 and the last subtraction), and d * 2^-125
for numbers below the normal range. So with e the largest such error, whoever is nearest has an approximate s of at most
t + 2 e, where t is the k-th least approximate s.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from textveil.words.search.ties import priority, rank_of

ROWS = 64  # queries at a time
UNIT = 2.0**-24


class Product:
    """A matrix prepared for screening by float32 products."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix
        self.mean = matrix.mean(axis=0, dtype=np.float64)
        centred = matrix - self.mean
        square = np.einsum("ij,ij->i", centred, centred)
        self.longest = float(np.sqrt(square.max()))
        self.half_square = (square / 2).astype(np.float32)
        self.columns = np.ascontiguousarray(centred.T.astype(np.float32))

    def nearest(self, queries: np.ndarray, words: np.ndarray | None) -> np.ndarray:
        index = np.empty(len(queries), np.int32)
        for start, rows, columns, distance in self._survivors(queries, 1):
            for i in np.unique(rows):
                mine = rows == i
                near, far = columns[mine], distance[mine]
                minimal = near[far == far.min()]
                word = None if words is None else words[start + i : start + i + 1]
                index[start + i] = minimal[rank_of(word, np.array([len(minimal)]))[0]]
        return index

    def k_nearest(self, queries: np.ndarray, k: int, words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        index, found = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
        for start, rows, columns, distance in self._survivors(queries, k):
            key = columns if words is None else priority(words[start + rows], columns)
            order = np.lexsort((key, distance, rows))
            first = np.searchsorted(rows[order], np.arange(rows[-1] + 1))
            best = order[first[:, None] + np.arange(k)]
            part = slice(start, start + len(first))
            index[part], found[part] = columns[best], distance[best]
        return index, found

    def _survivors(self, queries: np.ndarray, k: int) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Yields (start, query numbers from start, word numbers, float64 squared distances), sorted by query and word."""
        for start in range(0, len(queries), ROWS):
            part = queries[start : start + ROWS]
            centred = part - self.mean
            score = self.half_square - centred.astype(np.float32) @ self.columns
            limit = np.partition(score, k - 1, axis=1)[:, k - 1] if k > 1 else score.min(axis=1)
            rows, columns = np.nonzero(score <= self._reach(limit, centred)[:, None])
            yield start, rows, columns, squared_distances(part, rows, self.matrix, columns)

    def _reach(self, limit: np.ndarray, centred: np.ndarray) -> np.ndarray:
        length = np.linalg.norm(centred, axis=1)
        terms = centred.shape[1] + 8
        error = terms * (UNIT * self.longest * (self.longest / 2 + length) + 2.0**-125)
        return np.nextafter((limit + 2.0 * error).astype(np.float32), np.float32(np.inf))


def squared_distances(queries: np.ndarray, rows: np.ndarray, matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """||queries[rows] - matrix[columns]||^2 in float64."""
    difference = queries[rows].astype(np.float64) - matrix[columns]
    return np.einsum("ij,ij->i", difference, difference)
