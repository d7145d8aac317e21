"""Nearest binary codes, exactly, with ties broken at random."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from textveil.core.errors import BadInput
from textveil.words.search import hamming_numpy
from textveil.words.search.batches import check_count, choose_engine, random_words, spread, table
from textveil.words.search.ties import rank_of

if TYPE_CHECKING:
    from textveil.words.search.hamming_planes import Planes

REMEMBERED = 16  # tied words noted during a scan; where there are more, the query is looked at again
MOST_BITS = 1 << 14


class HammingSearch:
    """Search over `codes`, (n, w) words of 64 bits of which the first `bits` are used, the rest zero.

    >>> codes = np.array([[0b0000], [0b0111], [0b1111]], dtype=np.uint64)
    >>> search = HammingSearch(codes, bits=4)
    >>> search.nearest(np.array([[0b0001], [0b1110]], dtype=np.uint64), np.zeros(2, np.uint64)).tolist()
    [0, 2]
    """

    def __init__(self, codes: np.ndarray, bits: int, *, engine: str = "auto", threads: int = 1):
        self.codes = table(codes, np.uint64, "codes")
        self.bits = check_count("bits", bits, min(64 * self.codes.shape[1], MOST_BITS))
        if not len(self.codes):
            raise BadInput("codes is empty: a search needs at least one word")
        self._no_bits_beyond(self.codes, "codes")
        self.threads = check_count("threads", threads)
        self.engine = choose_engine(engine, self._planes_work)

    def nearest(self, queries: np.ndarray, tie_words: np.ndarray | None = None) -> np.ndarray:
        """Index of a nearest code per query, int32; of several, one at random by `tie_words` (without: the first)."""
        return self._nearest(queries, tie_words)[0]

    def distances_min(self, queries: np.ndarray) -> np.ndarray:
        """Distance to the nearest code per query, int32."""
        return self._nearest(queries, None)[1]

    def k_nearest(
        self, queries: np.ndarray, k: int, tie_words: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances, (m, k) int32, the nearest first; equal distances in random order by `tie_words`."""
        queries, words = self._batch(queries, tie_words)
        k = check_count("k", k, len(self.codes))
        index, distance = np.empty((len(queries), k), np.int32), np.empty((len(queries), k), np.int32)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            random = None if words is None else words[part]
            if self.engine == "numpy":
                index[part], distance[part] = hamming_numpy.k_nearest(self._columns, queries[part], k, random)
            else:
                index[part], distance[part] = self._ranked(queries[part], k, random)

        spread(work, len(queries), self.threads)
        return index, distance

    def set_of_minimisers(self, query: np.ndarray) -> np.ndarray:
        """All nearest codes of one query, by index: a direct computation that the scans can be checked against."""
        query = table(np.atleast_2d(query), np.uint64, "query", self.codes.shape[1])
        distance = hamming_numpy.distances(self._columns, query)[0]
        return np.flatnonzero(distance == distance.min()).astype(np.int32)

    def _planes_work(self) -> bool:
        from textveil.words.search import hamming_planes

        return hamming_planes.works_here(self.bits)

    @cached_property
    def _columns(self) -> np.ndarray:
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def _planes(self) -> Planes:
        from textveil.words.search.hamming_planes import Planes

        return Planes(self.codes, self.bits)

    def _batch(self, queries: np.ndarray, tie_words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        queries = table(queries, np.uint64, "queries", self.codes.shape[1])
        self._no_bits_beyond(queries, "queries")
        return queries, random_words(tie_words, len(queries))

    def _no_bits_beyond(self, words: np.ndarray, name: str) -> None:
        """A bit outside the code would count in one engine and not in the other."""
        whole, rest = divmod(self.bits, 64)
        stray = words[:, whole + 1 :].any() or (whole < words.shape[1] and (words[:, whole] >> np.uint64(rest)).any())
        if stray:
            raise BadInput(f"{name} has bits set beyond the first {self.bits}")

    def _nearest(self, queries: np.ndarray, tie_words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        queries, words = self._batch(queries, tie_words)
        index, distance = np.empty(len(queries), np.int32), np.empty(len(queries), np.int32)
        _ = self._columns if self.engine == "numpy" else self._planes  # built once, before the threads

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            random = None if words is None else words[part]
            if self.engine == "numpy":
                index[part], distance[part] = hamming_numpy.nearest(self._columns, queries[part], random)
            else:
                index[part], distance[part] = self._scanned(queries[part], random)

        spread(work, len(queries), self.threads)
        return index, distance

    def _scanned(self, queries: np.ndarray, words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        m = len(queries)
        distance, count = np.full((m, 1), self.bits + 1, np.int64), np.zeros(m, np.int64)
        found = np.zeros((m, REMEMBERED), np.int32)
        self._planes.scan(queries, distance, found, count, np.empty((m, 0), np.uint64), np.empty(0, np.uint64))
        rank = rank_of(words, count)
        index = found[np.arange(m), np.minimum(rank, REMEMBERED - 1)]
        for i in np.flatnonzero(rank >= REMEMBERED):
            index[i] = self.set_of_minimisers(queries[i])[rank[i]]
        return index, distance[:, 0]

    def _ranked(self, queries: np.ndarray, k: int, words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        m = len(queries)
        distance, keys = np.full((m, k), self.bits + 1, np.int64), np.zeros((m, k), np.uint64)
        found = np.zeros((m, k), np.int32)
        random = np.empty(0, np.uint64) if words is None else words
        self._planes.scan(queries, distance, found, np.zeros(m, np.int64), keys, random)
        return found, distance
