"""Nearest float vectors, exactly: the words of least float64 distance."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from textveil.core.errors import BadInput
from textveil.words.search.batches import check_count, choose_engine, random_words, spread, table
from textveil.words.search.euclid_numpy import Product
from textveil.words.search.ties import rank_of

REMEMBERED = 16  # tied words noted during a scan; where there are more, the query is looked at again
LARGEST = 1e15  # squares stay far inside float32


class EuclidSearch:
    """Search over the rows of `matrix`, (n, d) float32.

    >>> search = EuclidSearch(np.array([[0, 0], [3, 4], [3, 4]], dtype=np.float32))
    >>> search.nearest(np.array([[1, 1]], dtype=np.float32)).tolist()
    [0]
    >>> search.k_nearest(np.array([[3, 3]], dtype=np.float32), k=2)[1].tolist()
    [[1.0, 1.0]]
    """

    def __init__(self, matrix: np.ndarray, *, engine: str = "auto", threads: int = 1):
        self.matrix = table(matrix, np.float32, "matrix")
        if not self.matrix.size:
            raise BadInput("matrix is empty: a search needs at least one word and one coordinate")
        self._finite(self.matrix, "matrix")
        self.threads = check_count("threads", threads)
        self.engine = choose_engine(engine, self._int8_works)

    def nearest(self, queries: np.ndarray, tie_words: np.ndarray | None = None) -> np.ndarray:
        """Index of the nearest row per query, int32; of equally near rows one at random by `tie_words` (else the first)."""
        queries, words = self._batch(queries, tie_words)
        index = np.empty(len(queries), np.int32)
        prepared = self._prepared

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            random = None if words is None else words[part]
            scan = prepared.nearest if self.engine == "numpy" else self._scanned
            index[part] = scan(queries[part], random)

        spread(work, len(queries), self.threads)
        return index

    def k_nearest(
        self, queries: np.ndarray, k: int, tie_words: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices (m, k) int32 and distances (m, k) float64, nearest first; equal ones in random order by `tie_words`."""
        queries, words = self._batch(queries, tie_words)
        k = check_count("k", k, len(self.matrix))
        index, squared = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
        prepared = self._prepared

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            random = None if words is None else words[part]
            scan = prepared.k_nearest if self.engine == "numpy" else self._ranked
            index[part], squared[part] = scan(queries[part], k, random)

        spread(work, len(queries), self.threads)
        return index, np.sqrt(squared)

    def _int8_works(self) -> bool:
        from textveil.words.search import euclid_int8

        return euclid_int8.works_here() and self.matrix.shape[1] <= euclid_int8.MOST_COLUMNS

    @cached_property
    def _prepared(self) -> Any:  # Product or Blocks, by the engine
        if self.engine == "numpy":
            return Product(self.matrix)
        from textveil.words.search.euclid_int8 import Blocks

        return Blocks(self.matrix)

    def _batch(self, queries: np.ndarray, tie_words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        queries = table(queries, np.float32, "queries", self.matrix.shape[1])
        self._finite(queries, "queries")
        return queries, random_words(tie_words, len(queries))

    @staticmethod
    def _finite(array: np.ndarray, name: str) -> None:
        """The error bounds hold for finite numbers whose squares float32 can hold."""
        if not (np.abs(array) <= LARGEST).all():
            raise BadInput(f"{name} has values that are not finite or beyond {LARGEST:g}")

    def _scanned(self, queries: np.ndarray, words: np.ndarray | None) -> np.ndarray:
        m = len(queries)
        squared, count = np.full((m, 1), np.inf), np.zeros(m, np.int64)
        found = np.zeros((m, REMEMBERED), np.int32)
        self._prepared.scan(queries, squared, found, count, np.empty((m, 0), np.uint64), np.empty(0, np.uint64))
        rank = rank_of(words, count)
        index = found[:, 0].copy()
        for i in np.flatnonzero(count > 1):
            if count[i] <= REMEMBERED:
                index[i] = np.sort(found[i, : count[i]])[rank[i]]
            else:
                index[i] = self._prepared.tied_word(queries, i, squared[i, 0], rank[i])
        return index

    def _ranked(self, queries: np.ndarray, k: int, words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        m = len(queries)
        squared, keys = np.full((m, k), np.inf), np.zeros((m, k), np.uint64)
        found = np.zeros((m, k), np.int32)
        random = np.empty(0, np.uint64) if words is None else words
        self._prepared.scan(queries, squared, found, np.zeros(m, np.int64), keys, random)
        return found, squared
