"""From groups back to words: every released count of a group is dealt out to its words at random.

Claim. No further loss: the input is what was released (noisy group counts, noisy or public word weights), and the dealing is
post-processing. Each of the n tokens of a group becomes one of its words with chance weight / sum of the group's weights,
independently: the multinomial of the paper, normalised with the *noisy* counts (the paper prints the private ones). A count
above LARGEST_DEALT, which only noise makes, is shared out by its expectation: dealing its tokens one by one would take memory
in proportion to the noise, and what chance adds is below one part in a thousand of it.
"""

from __future__ import annotations

import importlib.util

import numpy as np
from scipy import sparse

from textveil.noise import Source

LARGEST_DEALT = 1 << 21  # tokens of one group in one document
_TOKENS_AT_ONCE = 2_000_000
_MANY_TOKENS = 3_000_000


def decompress(counts: np.ndarray, groups: np.ndarray, weights: np.ndarray, source: Source) -> sparse.csr_array:
    """Counts per word (documents x words) from counts per group; negative ones count as 0, empty groups vanish.

    >>> from textveil.noise import seeded
    >>> decompress(np.array([[3, 2]]), np.array([0, 1, 1]), np.array([1.0, 5.0, 0.0]), seeded(1)).toarray().tolist()
    [[3, 2, 0]]
    """
    positive = np.maximum(counts, 0)
    shared = np.where(positive > LARGEST_DEALT, positive, 0)
    positive = positive - shared
    dealer = _Dealer(groups, weights, counts.shape[1], fast=_worth_compiling(positive))
    positive[:, dealer.empty] = 0
    ends = np.cumsum(positive.sum(axis=1, dtype=np.int64))
    parts, start = [], 0
    while start < len(counts):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _TOKENS_AT_ONCE, side="right")))
        parts.append(dealer.deal(positive[start:stop], source))
        start = stop
    dealt = sparse.vstack(parts, format="csr") if parts else sparse.csr_array((0, len(groups)), dtype=np.int32)
    return sparse.csr_array(dealt + dealer.share(shared)) if shared.any() else dealt


def _worth_compiling(counts: np.ndarray) -> bool:
    """Loading compiled code takes about a second: only for many tokens, and where numba is installed."""
    return int(counts.sum(dtype=np.int64)) > _MANY_TOKENS and importlib.util.find_spec("numba") is not None


class _Dealer:
    """Inverse distribution functions of all groups on one line: group g covers [g, g + 1)."""

    def __init__(self, groups: np.ndarray, weights: np.ndarray, count: int, *, fast: bool = False):
        self._fast = fast
        self._words = np.argsort(groups, kind="stable")
        self._groups = groups[self._words]
        sizes = np.bincount(groups, minlength=count)
        self.empty = sizes == 0
        self._last = np.cumsum(sizes) - 1
        self._first = self._last - sizes + 1
        self._steps = self._cumulative(np.maximum(np.asarray(weights, np.float64), 0)[self._words], groups[self._words])

    def _cumulative(self, weights: np.ndarray, groups: np.ndarray) -> np.ndarray:
        totals = np.bincount(groups, weights, minlength=len(self.empty))
        even = totals[groups] == 0  # nothing is known about the words of this group
        weights = np.where(even, 1.0, weights)
        totals = np.bincount(groups, weights, minlength=len(self.empty))
        running = np.cumsum(weights / totals[groups])
        before = np.where(self._first > 0, running[np.maximum(self._first - 1, 0)], 0.0)
        return groups + running - before[groups]

    def share(self, counts: np.ndarray) -> sparse.csr_array:
        """The expected count of every word, rounded so that each group keeps its count."""
        ends = np.floor(counts[:, self._groups] * np.minimum(self._steps - self._groups, 1.0)).astype(np.int64)
        ends[:, self._last[~self.empty]] = counts[:, ~self.empty]
        before = np.zeros_like(ends)
        before[:, 1:] = ends[:, :-1]
        before[:, self._first[~self.empty]] = 0
        words = np.empty_like(ends)
        words[:, self._words] = ends - before
        return sparse.csr_array(words.astype(np.int32))

    def deal(self, counts: np.ndarray, source: Source) -> sparse.csr_array:
        uniforms = source.uniforms(int(counts.sum(dtype=np.int64)))
        shape = (len(counts), len(self._words))
        return sparse.csr_array((self._compiled if self._fast else self._plain)(counts, uniforms), shape=shape)

    def _compiled(self, counts: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from .dealing import deal

        return deal(counts, uniforms, self._steps, self._first, self._last, self._words)

    def _plain(self, counts: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        documents, width = len(counts), len(self._words)
        cells = np.repeat(np.arange(counts.size), counts.ravel())
        rows, groups = np.divmod(cells, counts.shape[1])
        places = np.searchsorted(self._steps, uniforms + groups, side="right")
        places = np.clip(places, self._first[groups], self._last[groups])
        keys, times = np.unique(rows * width + self._words[places], return_counts=True)
        rows, words = np.divmod(keys, width)
        return times.astype(np.int32), words.astype(np.int32), np.searchsorted(rows, np.arange(documents + 1))
