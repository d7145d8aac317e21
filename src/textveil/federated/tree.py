"""Noise that is correlated over rounds (DP-FTRL): prefix sums of n rounds from log2 n noisy blocks each.

Claim. What is released of a tree of n rounds is, at most, the noisy sums of blocks of 2^l rounds that begin at a multiple of
2^(l+1): the blocks of the binary digits of each t. Each block's noise is drawn once, N(0, (noise * C)^2) per value. Round t
(from 0) stands in the blocks of level l where digit l of t is 0 and the block ends within n, so at most in floor(log2 n) +
1 of them (t = 0). A unit that takes part in one round of the tree moves so many sums by at most C each: that many plain
Gaussians (`RoundPlan.tree_event`). Inputs may depend on what was released before: Gaussian composition is adaptive.
Derivation of the noise. After t rounds the released prefix is the sum of popcount(t) noisy blocks: its noise has variance
popcount(t) * (noise * C)^2, where independent noise in every round would have t * (noise * C)^2.

Source: Kairouz, McMahan, Song, Thakkar, Thakurta, Xu 2021, "Practical and private (deep) learning without sampling or
shuffling" (binary-tree aggregation; the variance reduction of Honaker is not used).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.noise import Source

from .weights import Flat


def blocks_of(t: int) -> list[tuple[int, int]]:
    """The blocks (first round, level) whose sums make up the first t rounds.

    >>> blocks_of(6)
    [(0, 2), (4, 1)]
    """
    blocks, start = [], 0
    for level in reversed(range(t.bit_length())):
        if t >> level & 1:
            blocks.append((start, level))
            start += 1 << level
    return blocks


class TreeSums:
    """Noisy prefix sums of a stream of vectors.

    For each digit of `rounds` it holds the noisy sum of the block and the exact one, which larger blocks are made of: both
    are needed to go on, so they stand in the checkpoint, for its owner only.

    >>> from textveil.noise import seeded
    >>> tree = TreeSums(1)
    >>> [float(tree.add(np.float32([1.0]), 0.0, seeded(0))[0]) for _ in range(5)]
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, size: int) -> None:
        self.size, self.rounds = size, 0
        self.noisy: dict[int, Flat] = {}  # by level
        self.exact: dict[int, Flat] = {}

    def add(self, value: Flat, deviation: float, source: Source) -> Flat:
        """Take the next vector; the noisy sum of all so far. Exactly one block closes, so noise is drawn once."""
        level, block = 0, value.astype(np.float32)
        while self.rounds >> level & 1:  # like adding one to a binary number: full digits carry over
            block = block + self.exact.pop(level)
            self.noisy.pop(level)
            level += 1
        noise = source.normals(self.size, np.float32) * np.float32(deviation)
        self.exact[level], self.noisy[level] = block, block + noise
        self.rounds += 1
        return np.sum(list(self.noisy.values()), axis=0, dtype=np.float32)

    def state(self) -> dict[str, Any]:
        return {"rounds": self.rounds, "noisy": dict(self.noisy), "exact": dict(self.exact)}

    @classmethod
    def load(cls, size: int, state: dict[str, Any]) -> TreeSums:
        tree = cls(size)
        tree.rounds, tree.noisy, tree.exact = state["rounds"], dict(state["noisy"]), dict(state["exact"])
        return tree
