"""The largest difference between two rows of logarithms, for all pairs of rows: gap[a, b] = max over y of U[a, y] - V[b,
y].

5,000 words take 1.25e11 differences. With numba a tile of rows stays in the cache (about a minute on one core);
without, numpy does the same in blocks, several times slower. Impossible outputs are -inf in both: possible against
impossible gives inf, impossible against anything says nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

_NEVER = -1e300  # stands for ln 0 where infinities would make NaN
_TILE = 16
_CELLS = 2_000_000


def largest_gaps(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """
    >>> largest_gaps(np.log([[0.75, 0.25]]), np.log([[0.25, 0.75]])).round(6).tolist()
    [[1.098612]]
    >>> largest_gaps(np.array([[0.0, -np.inf]]), np.array([[-np.inf, -np.inf]])).tolist()
    [[inf]]
    """
    high = np.where(upper == -np.inf, 2 * _NEVER, np.clip(upper, _NEVER / 4, None))
    low = np.where(lower == -np.inf, _NEVER, np.clip(lower, None, -_NEVER / 4))
    kernel = _compiled()
    found = np.empty((len(high), len(low)))
    if kernel is not None:
        kernel(high, low, found)
    else:
        _in_blocks(high, low, found)
    found[found > -_NEVER / 2] = np.inf
    found[found < _NEVER / 8] = -np.inf
    return found


def _in_blocks(high: np.ndarray, low: np.ndarray, found: np.ndarray) -> None:
    block = max(1, _CELLS // low.shape[1])
    for a, row in enumerate(high):
        for start in range(0, len(low), block):
            some = slice(start, start + block)
            found[a, some] = (row - low[some]).max(axis=1)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    """The kernel, or None without numba."""
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(fastmath=True, nogil=True)
    def kernel(high: np.ndarray, low: np.ndarray, found: np.ndarray) -> None:  # pragma: no cover - compiled
        rows, columns = high.shape
        for start in range(0, rows, _TILE):
            for b in range(low.shape[0]):
                for a in range(start, min(start + _TILE, rows)):
                    best = -1e308
                    for y in range(columns):
                        best = max(best, high[a, y] - low[b, y])
                    found[a, b] = best

    return kernel


def worst_excess(upper: np.ndarray, lower: np.ndarray, allowed: np.ndarray) -> tuple[float, tuple[int, int, int]]:
    """The largest gap less what is allowed between two inputs, and where: (input, input, output).

    A row is not held against itself.

    >>> flip = np.log([[0.75, 0.25], [0.25, 0.75]])
    >>> worst, at = worst_excess(flip, flip, np.full((2, 2), np.log(2)))
    >>> round(worst, 6), at    # ln 3 - ln 2
    (0.405465, (0, 1, 0))
    """
    limits = np.array(allowed, dtype=np.float64)
    np.fill_diagonal(limits, np.inf)
    excess = largest_gaps(upper, lower) - limits
    a, b = (int(i) for i in np.unravel_index(int(excess.argmax()), excess.shape))
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(upper[a] - lower[b], nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    return float(excess[a, b]), (a, b, int(gaps.argmax()))
