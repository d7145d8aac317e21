"""A permutation test: do the members of one group score higher than the others?

Under the hypothesis that the grouping tells nothing about the scores, every way to choose the group is equally likely. The
p-value is the share of groupings whose difference of means is at least the one seen. With drawn groupings the one
seen is counted among them, so the test keeps its level exactly: P(p <= a) <= a (Phipson and Smyth 2010).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALL_BELOW = 20_000  # so many groupings are listed; of more, this many are drawn
_AT_ONCE = 2_000


def permutation_p(scores: NDArray[np.floating[Any]], member: NDArray[np.bool_], rng: Any) -> float:
    """One-sided p-value of "members score higher".

    >>> from textveil.noise import seeded
    >>> permutation_p(np.array([5.0, 4.0, 1.0, 2.0, 3.0]), np.array([1, 1, 0, 0, 0], bool), seeded(0))   # 1 of 10
    0.1
    """
    scores = np.asarray(scores, dtype=np.float64)
    size = int(member.sum())
    seen = scores[member].sum() - 1e-12 * np.abs(scores).sum()  # the total is fixed: larger sum, larger difference
    if comb(len(scores), size) <= ALL_BELOW:
        sums = np.array([scores[list(some)].sum() for some in combinations(range(len(scores)), size)])
        return float(np.mean(sums >= seen))
    above = 0
    for _ in range(ALL_BELOW // _AT_ONCE):
        order = np.argsort(rng.uniforms((_AT_ONCE, len(scores))), axis=1)[:, :size]
        above += int(np.count_nonzero(scores[order].sum(axis=1) >= seen))
    return (1 + above) / (1 + ALL_BELOW)
