"""The cost of a term where the law is a kernel density: summed on the grid that weights are rounded to.

What the quiet seal draws is a fitted row (chosen at random), plus Gaussian noise unless it is 0, rounded to a grid of
step s; and with chance `floor` a uniform value. So the law of one column is a list of chances over the grid points,
computed from the counts of the fitted values (binned to the grid, which moves a centre by at most s / 2, a 512th of the
spread) by one convolution. A neighbour lacks K rows: K counts less. Its divergence is a finite sum (divergence.on_grid)
with a stated rounding bound; no integral is approximated.

The worst set has no closed form here. Tried: the values furthest from the mean, the i smallest and K - i largest for a
few i, and windows of consecutive values. The largest divergence found is reported as `searched`: a lower limit on the
worst one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textveil.hashed.divergence import DELTA, best_order, on_grid, rounding_bound
from textveil.hashed.law import FLOOR, bandwidth_of, bound_of, kernel_mass

_REACH = 9.0  # bandwidths; beyond it the kernel's mass is below 1e-18
_MOST_POINTS = 1 << 16


class KernelCost(NamedTuple):
    count: int
    searched: float
    order: float
    error: float  # bound on the rounding error of `searched`
    sets: int


class GridLaw:
    """The chances of one column's grid points.

    >>> law = GridLaw(np.array([0.0, 0.0, 0.25, -0.5] * 4), step=0.25)
    >>> round(float(law.chances().sum()), 12)
    1.0
    """

    def __init__(self, values: np.ndarray, step: float, floor: float = FLOOR):
        values = np.asarray(values, np.float64)
        self.bandwidth, bound = (float(f(values[:, None])[0]) for f in (bandwidth_of, bound_of))
        self.half = min(math.ceil(bound / step), _MOST_POINTS // 2)
        self.step, self.size, self.floor = bound / self.half, 2 * self.half + 1, floor
        self.places = np.round(values / self.step).astype(np.int64) + self.half  # grid point of each fitted value
        self.still = values == 0
        self.kernel = kernel_mass(math.ceil(_REACH * self.bandwidth / self.step), self.step, self.bandwidth)

    def chances(self, removed: np.ndarray | None = None) -> np.ndarray:
        """The law without the rows `removed` (their places among the fitted values)."""
        keep = np.ones(len(self.places), bool)
        if removed is not None:
            keep[removed] = False
        counts = np.bincount(self.places[keep & ~self.still], minlength=self.size).astype(np.float64)
        reach = len(self.kernel) // 2
        wide = np.convolve(counts, self.kernel)  # direct: positive terms, so that tails keep their digits
        smooth = wide[reach : reach + self.size].copy()
        smooth[0] += wide[:reach].sum()  # values beyond the bound are moved to the edge
        smooth[-1] += wide[reach + self.size :].sum()
        smooth[self.half] += int((keep & self.still).sum())
        return (1 - self.floor) * smooth / smooth.sum() + self.floor / self.size

    def cost(self, removed: np.ndarray, delta: float = DELTA) -> tuple[float, float, float]:
        """(epsilon, order, error bound): the larger of both directions without these rows."""
        p, q = self.chances(), self.chances(removed)
        found = []
        for one, other in ((p, q), (q, p)):
            epsilon, order = best_order(lambda a, x=one, y=other: np.array([on_grid(float(a[0]), x, y)]), delta)
            found.append((float(epsilon[0]), float(order[0]), rounding_bound(float(order[0]), self.size)))
        return max(found)


def kernel_cost(rows: np.ndarray, count: int, step: float, delta: float = DELTA) -> KernelCost:
    """The largest cost found over sets of `count` rows, columns summed."""
    if count > len(rows) - 2:
        return KernelCost(count, math.inf, math.nan, 0.0, 0)
    total, error, order, sets = 0.0, 0.0, math.inf, 0
    for j in range(rows.shape[1]):
        law = GridLaw(rows[:, j], step)
        tried = [law.cost(s, delta) for s in _sets(rows[:, j], count)]
        epsilon, at, wrong = max(tried)
        total, error, order, sets = total + epsilon, error + wrong, min(order, at), sets + len(tried)
    return KernelCost(count, total, order, error, sets)


def _sets(values: np.ndarray, count: int) -> list[np.ndarray]:
    order, n = np.argsort(values, kind="stable"), len(values)
    few = np.unique(np.linspace(0, count, 5).astype(int))
    sets = [np.concatenate([order[:i], order[n - (count - i) :]]) for i in few]
    sets.append(np.argsort(-np.abs(values - values.mean()), kind="stable")[:count])
    return sets + [order[s : s + count] for s in np.linspace(0, n - count, 5).astype(int)]
