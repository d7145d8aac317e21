"""k-means with clusters of equal size: the assignment step is a transportation problem, solved by an auction.

Claim. `assign` gives every point to a cluster, cluster k gets exactly its capacity, and the total cost is within
points * tolerance of the least possible. `gap` certifies it afterwards by a dual bound.

Derivation. Each cluster has a price p_k. A point without a place bids for the cluster where -cost - price is largest, up to
the level at which its second choice would be as good, plus `step`. A full cluster keeps its highest bids; the lowest of
them is its price. Prices only rise, so whoever holds a place still finds it best up to `step` (epsilon complementary
slackness), and with all places taken this makes the total optimal up to points * step. A few rounds with larger steps
first (epsilon scaling) carry their prices over. All clusters end up full, so any starting prices are allowed.
The dual bound: sum_i min_k (cost_ik + p_k) - sum_k capacity_k p_k never exceeds the optimum, for any prices.

Memory is points x clusters; 50,000 words in 500 clusters take 100 MB.

Source. Bertsekas and Castanon 1989, "The auction algorithm for the transportation problem"; k-means: Lloyd 1982. The paper
says "K-means with the Hungarian algorithm", which would need a 50,000 x 50,000 matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textveil.core import BadInput, BadParameter
from textveil.core.params import positive_integer
from textveil.noise import Source

_ROWS_AT_ONCE = 8192
_SHRINK = 5.0


@dataclass(frozen=True)
class Assignment:
    """Labels, prices, and how far the cost may be from the least possible, as a share of it."""

    labels: np.ndarray
    prices: np.ndarray
    cost: float
    gap: float


def balanced_clusters(
    points: np.ndarray, clusters: int, source: Source, *, rounds: int = 5, tolerance: float = 1e-2
) -> Assignment:
    """Clusters whose sizes differ by at most one; `rounds` of assignment and averaging.

    >>> from textveil.noise import seeded
    >>> found = balanced_clusters(np.array([[0.0], [0.1], [5.0], [5.1]]), 2, seeded(1))
    >>> found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]
    np.True_
    """
    points = np.asarray(points, np.float32)
    if points.ndim != 2 or not np.isfinite(points).all():
        raise BadInput("the points must be a table of finite numbers, one row per word")
    if positive_integer("clusters", clusters) > len(points):
        raise BadParameter("clusters", clusters, f"at most the number of points ({len(points)})")
    capacities = np.full(clusters, len(points) // clusters)
    capacities[: len(points) % clusters] += 1
    centres = points[_spread(points, clusters, source)]
    prices = None
    for _ in range(positive_integer("rounds", rounds)):
        found = assign(_squared(points, centres), capacities, tolerance=tolerance, prices=prices)
        centres, prices = _means(points, found.labels, capacities), found.prices
    return found


def assign(
    cost: np.ndarray, capacities: np.ndarray, *, tolerance: float = 1e-3, prices: np.ndarray | None = None
) -> Assignment:
    """The cheapest assignment up to `tolerance` (a share of the mean least cost of a point) per point.

    >>> assign(np.array([[0.0, 1.0], [0.0, 3.0]]), np.array([1, 1])).labels.tolist()
    [1, 0]
    """
    if int(np.sum(capacities)) != len(cost):
        raise BadParameter("capacities", int(np.sum(capacities)), f"as many places as points ({len(cost)})")
    cost = np.asarray(cost, np.float32)
    spread = float(cost.max() - cost.min()) or 1.0
    least = cost.min(axis=1).mean(dtype=np.float64)
    step_wanted = tolerance * float(least if least > 0 else spread)
    step = max(step_wanted, spread / _SHRINK) if prices is None else step_wanted * _SHRINK
    level = np.zeros(cost.shape[1]) if prices is None else np.asarray(prices, np.float64)
    while True:
        step = max(step / _SHRINK, step_wanted)
        labels, level = _auction(cost, np.asarray(capacities), level, step)
        if step <= step_wanted:
            return _certified(cost, np.asarray(capacities), labels, level)


def _auction(
    cost: np.ndarray, capacities: np.ndarray, prices: np.ndarray, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """One auction at one step; labels and final prices."""
    count, clusters = cost.shape
    labels, bids, prices = np.full(count, -1), np.zeros(count), prices.copy()
    free = np.arange(count)
    while len(free):
        best, offers = _bids(cost, free, prices, step)
        labels[free], bids[free] = best, offers
        touched = np.unique(best)
        members = np.flatnonzero(np.isin(labels, touched)) if len(touched) < clusters else np.arange(count)
        order = members[np.lexsort((-bids[members], labels[members]))]
        sizes = np.bincount(labels[order], minlength=clusters)
        starts = np.cumsum(sizes) - sizes
        rank = np.arange(len(order)) - starts[labels[order]]
        full = touched[sizes[touched] >= capacities[touched]]
        prices[full] = np.maximum(prices[full], bids[order[starts[full] + capacities[full] - 1]])
        free = order[rank >= capacities[labels[order]]]
        labels[free] = -1
    return labels, prices


def _bids(cost: np.ndarray, free: np.ndarray, prices: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """For each free point its best cluster, and the price up to which it stays the best, plus the step."""
    best, offers = np.empty(len(free), np.int64), np.empty(len(free))
    for start in range(0, len(free), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        values = cost[free[some]] + prices
        rows = np.arange(len(values))
        best[some] = values.argmin(axis=1)
        first = values[rows, best[some]].copy()
        values[rows, best[some]] = np.inf
        second = values.min(axis=1) if values.shape[1] > 1 else first
        offers[some] = prices[best[some]] + (second - first) + step
    return best, offers


def _certified(cost: np.ndarray, capacities: np.ndarray, labels: np.ndarray, prices: np.ndarray) -> Assignment:
    total = float(cost[np.arange(len(cost)), labels].sum(dtype=np.float64))
    bound = -float(capacities @ prices)
    for start in range(0, len(cost), _ROWS_AT_ONCE):
        bound += float((cost[start : start + _ROWS_AT_ONCE] + prices).min(axis=1).sum())
    return Assignment(labels, prices, total, max(0.0, total - bound) / total if total > 0 else 0.0)


def _spread(points: np.ndarray, clusters: int, source: Source) -> np.ndarray:
    """Distinct points to begin with, drawn uniformly."""
    return source.permutation(len(points))[:clusters]


def _squared(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.maximum(squares - 2 * points @ centres.T, 0)


def _means(points: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    return (np.add.reduceat(points[order].astype(np.float64), starts) / sizes[:, None]).astype(np.float32)
