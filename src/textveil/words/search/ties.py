"""Ties, broken at random and independently of the input.

Words with equal codes or vectors, and codes at equal distance (a quarter of the queries at small epsilon), must all have a
chance to be the answer. The caller supplies one uniform 64-bit word r per query:

* nearest: of c minimisers in index order, take number floor(r * c / 2^64). Each is taken by floor or ceil of 2^64 / c
  values of r, so its odds differ from 1/c by less than 2^-64, and the choice is within c * 2^-65 of uniform in total
  variation (at most 2^-45 for 2^20 ties).
* k nearest: words at equal distance are ordered by a 64-bit mix of r and their index (the finaliser of splitmix64), a
  pseudo-random order; without tie words, by index.
"""

from __future__ import annotations

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def rank_of(words: np.ndarray | None, counts: np.ndarray) -> np.ndarray:
    """floor(word * count / 2^64) for each query, exactly, for counts below 2^32; 0 (the lowest index) without words.

    >>> rank_of(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), np.array([3, 3, 3]))
    array([0, 1, 2])
    """
    if words is None:
        return np.zeros(len(counts), np.int64)
    count = counts.astype(np.uint64)
    half = np.uint64(32)
    low = (words & np.uint64(0xFFFFFFFF)) * count >> half
    return (((words >> half) * count + low) >> half).astype(np.int64)


def priority(words: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The key that orders tied words: a bijective mix of the random word and the index.

    >>> len(set(priority(np.uint64(7), np.arange(1000, dtype=np.uint64)).tolist()))
    1000
    """
    with np.errstate(over="ignore"):
        x = words + (index.astype(np.uint64) + np.uint64(1)) * GOLDEN
        x = (x ^ (x >> np.uint64(30))) * MIX_1
        x = (x ^ (x >> np.uint64(27))) * MIX_2
        return x ^ (x >> np.uint64(31))
