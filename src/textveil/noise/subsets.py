"""Who takes part: random subsets of 0 .. n-1, drawn exactly as the events that price them say.

Poisson: each number takes part with at most the given chance, independently of all others. A 64-bit word is compared with
floor(chance * 2^64), so the chance is rounded down (by less than 2^-64), never up.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from .source import Source

Indices = npt.NDArray[np.int64]
_BLOCK = 1 << 16


def poisson_subset(source: Source, present: int, chance: Fraction) -> Indices:
    """Each of 0 .. present-1 with the same chance, independently.

    >>> from textveil.noise import seeded
    >>> len(poisson_subset(seeded(1), 7, Fraction(1))), len(poisson_subset(seeded(1), 0, Fraction(1, 2)))
    (7, 0)
    """
    if chance >= 1:
        return np.arange(present, dtype=np.int64)
    limit = np.uint64(math.floor(chance * 2**64))
    blocks = [
        start + np.flatnonzero(source.words(min(_BLOCK, present - start)) < limit)
        for start in range(0, present, _BLOCK)
    ]
    return np.concatenate(blocks).astype(np.int64) if blocks else np.empty(0, np.int64)


def fixed_subset(source: Source, present: int, count: int) -> Indices:
    """A uniform subset of `count`, without replacement: the first of a uniform order, sorted.

    >>> from textveil.noise import seeded
    >>> fixed_subset(seeded(1), 3, 3).tolist()
    [0, 1, 2]
    """
    return np.sort(source.permutation(present)[:count])
