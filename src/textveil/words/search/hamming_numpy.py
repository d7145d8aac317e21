"""Hamming distances with numpy alone: popcounts of a few queries against all words at a time."""

from __future__ import annotations

import numpy as np

from textveil.words.search.ties import priority, rank_of

ROWS = 16  # queries at a time: their distances to 50,000 words stay in the second-level cache
_SIXTEEN = np.array([bin(i).count("1") for i in range(1 << 16)], np.uint8)


def popcounts(words: np.ndarray) -> np.ndarray:
    """Bits set in each 64-bit word; numpy before 2.0 has no such function and gets a table of 16-bit pieces."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words)
    pieces = np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape, 4)
    return _SIXTEEN[pieces].sum(axis=-1, dtype=np.uint8)


def distances(planes: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """(m, n) distances; `planes` is the transposed code table, so that each step runs along contiguous memory."""
    total = np.zeros((len(queries), planes.shape[1]), np.uint16)
    for plane, column in zip(planes, queries.T, strict=True):
        total += popcounts(plane[None, :] ^ column[:, None])
    return total


def nearest(planes: np.ndarray, queries: np.ndarray, words: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Index and distance of a nearest code; see `ties` for the choice among several."""
    index, least = np.empty(len(queries), np.int32), np.empty(len(queries), np.int32)
    for start in range(0, len(queries), ROWS):
        part = slice(start, start + ROWS)
        table = distances(planes, queries[part])
        least[part] = table.min(axis=1)
        minimal = table == least[part, None]
        rank = rank_of(None if words is None else words[part], minimal.sum(axis=1))
        index[part] = [np.flatnonzero(row)[r] for row, r in zip(minimal, rank, strict=True)]
    return index, least


def k_nearest(
    planes: np.ndarray, queries: np.ndarray, k: int, words: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest codes, by distance, then by tie key."""
    index, found = np.empty((len(queries), k), np.int32), np.empty((len(queries), k), np.int32)
    for start in range(0, len(queries), ROWS):
        table = distances(planes, queries[start : start + ROWS])
        bound = np.partition(table, k - 1, axis=1)[:, k - 1]
        for i, (row, limit) in enumerate(zip(table, bound, strict=True), start):
            near = np.flatnonzero(row <= limit)
            key = near if words is None else priority(words[i], near)
            order = near[np.lexsort((key, row[near]))[:k]]
            index[i], found[i] = order, row[order]
    return index, found
