"""What a term costs: the Renyi divergence between the law fitted with and without the rows of its features. MEASURED,
no promise.

The seal copies genuine rows exactly, so no (epsilon, delta) with delta < 1 covers the table itself
(docs/hashed-seal.md). What the paper prints is the divergence between the fitted law P and the neighbour Q that lacks K
rows. Here:

    paper      as printed: in each column the K values furthest from the mean are removed, D(P || Q), columns summed,
               best order
    forward    D(P || Q) at the worst set of K rows per column, exactly
    backward   D(Q || P) at the worst set; `larger` is the larger of both, and may be infinite: D(P || Q) is finite only
               while alpha v_Q + (1 - alpha) v_P > 0, and that is said, not hidden

Worst sets. A divergence between one-dimensional Gaussians depends on the set through the sum and the sum of squares of
what is left, and its level sets in these two numbers are convex; so the worst set is an extreme point: the K largest
values of a x + b x^2 for some a, b. With b > 0 these are the i smallest and K - i largest values (K + 1 sets), with b <
0 they are K consecutive ones (n - K + 1 sets). Prefix sums give the moments of all of them in O(n). Tests compare with
all subsets.

Order. For each order alpha the worst set is taken over all sets, then the best alpha is chosen: the order that a Renyi
promise would need. alpha is searched on a thinned family of sets and the divergence at that alpha is then taken over
all sets, so the printed epsilon is the true value of the worst set at the printed order (any order is valid; a finer
search could only lower it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from textveil.core.errors import BadInput
from textveil.hashed.divergence import DELTA, ORDERS, best_order, gaussian

RANKS = (1, 10, 100, 1000)
ZIPF_SHARE = 0.07  # 'the' is in about 7 % of all features (section 5.1)
_THIN = 1500


@dataclass(frozen=True)
class Cost:
    """Epsilon at `delta` for K removed rows; orders beside. Infinity is printed as such."""

    count: int
    rows: int
    delta: float
    paper: float
    paper_order: float
    forward: float
    forward_order: float
    backward: float
    backward_order: float

    @property
    def larger(self) -> float:
        return max(self.forward, self.backward)

    def to_json(self) -> dict[str, Any]:
        shown = {**asdict(self), "larger": self.larger}
        return {name: "inf" if isinstance(v, float) and math.isinf(v) else v for name, v in shown.items()}


class Column:
    """One column of the fitted rows, sorted and standardised (the divergence does not change), with prefix sums."""

    def __init__(self, values: np.ndarray) -> None:
        values = np.sort(np.asarray(values, np.float64))
        spread = values.std()
        self.values = (values - values.mean()) / (spread if spread > 0 else 1.0)
        self.sums = np.concatenate([[0.0], np.cumsum(self.values)])
        self.squares = np.concatenate([[0.0], np.cumsum(self.values**2)])
        self.mean, self.variance = self._moments(np.zeros(1), np.zeros(1), 0)

    def __len__(self) -> int:
        return len(self.values)

    def furthest(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of what is left without the `count` values furthest from the mean."""
        gone = self.values[np.argsort(-np.abs(self.values - self.mean), kind="stable")[:count]]
        return self._moments(np.array([gone.sum()]), np.array([(gone**2).sum()]), count)

    def extremes(self, count: int, thin: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of what is left, for every set that can be the worst one."""
        n = len(self)
        few, starts = np.arange(count + 1), np.arange(n - count + 1)
        if thin:
            few, starts = (x[np.unique(np.linspace(0, len(x) - 1, _THIN).astype(int))] for x in (few, starts))
        high = n - (count - few)
        both = [s[few] + s[n] - s[high] for s in (self.sums, self.squares)]
        window = [s[starts + count] - s[starts] for s in (self.sums, self.squares)]
        return self._moments(*(np.concatenate(pair) for pair in zip(both, window, strict=True)), count)

    def _moments(self, sums: np.ndarray, squares: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        left = len(self) - count
        mean = (self.sums[-1] - sums) / left
        return mean, np.maximum((self.squares[-1] - squares) / left - mean**2, 0.0)


def cost_of_count(columns: list[Column], count: int, delta: float = DELTA) -> Cost:
    """The cost of a term with `count` rows, whichever they are.

    >>> cost = cost_of_count([Column(np.arange(1000.0))], 10)
    >>> 0 < cost.paper <= cost.forward, cost.larger == max(cost.forward, cost.backward)
    (True, True)
    """
    rows = len(columns[0])
    if count <= 0:
        return Cost(0, rows, delta, 0.0, math.inf, 0.0, math.inf, 0.0, math.inf)
    if count > rows - 2:  # nothing is left to fit a law to
        return Cost(count, rows, delta, *([math.inf, math.nan] * 3))
    left = [(c, *c.furthest(count)) for c in columns]
    paper, paper_order = best_order(lambda a: sum(gaussian(a, c.mean, c.variance, m, v) for c, m, v in left), delta)
    worst = [_worst(columns, count, delta, backward) for backward in (False, True)]
    return Cost(count, rows, delta, float(paper[0]), float(paper_order[0]), *worst[0], *worst[1])


def _worst(columns: list[Column], count: int, delta: float, backward: bool) -> tuple[float, float]:
    thin = [c.extremes(count, thin=True) for c in columns]
    _, order = best_order(lambda a: _largest(a, columns, thin, backward), delta)
    whole = [c.extremes(count) for c in columns]
    for _ in range(60):  # the whole family may be infinite where the thinned one was not yet
        epsilon = float(_largest(order, columns, whole, backward)[0]) - math.log(delta) / (float(order[0]) - 1)
        if math.isfinite(epsilon):
            return epsilon, float(order[0])
        order = 1 + (order - 1) * 0.7
    return math.inf, float(order[0])


def _largest(
    order: np.ndarray, columns: list[Column], sets: list[tuple[np.ndarray, np.ndarray]], backward: bool
) -> np.ndarray:
    total = 0.0
    for column, (mean, variance) in zip(columns, sets, strict=True):
        pair = (column.mean, column.variance, mean, variance)
        total += gaussian(order, *(pair[2:] + pair[:2] if backward else pair)).max()
    return np.array([total])


def curve(columns: list[Column], count: int, orders: np.ndarray) -> np.ndarray:
    """Divergences at fixed orders, larger direction, worst of the thinned family of sets: what updates add up."""
    if count > len(columns[0]) - 2:
        return np.full(len(orders), np.inf)
    thin = [c.extremes(count, thin=True) for c in columns]
    both = [[_largest(np.array([a]), columns, thin, backward)[0] for a in orders] for backward in (False, True)]
    return np.max(both, axis=0)


def columns_of(rows: np.ndarray) -> list[Column]:
    """The columns of the fitted rows, ready to be asked."""
    if rows.ndim != 2 or len(rows) < 3:
        raise BadInput("no law was fitted: fewer than 3 rows of weights", possible="a model trained on more text")
    return [Column(rows[:, j]) for j in range(rows.shape[1])]


def zipf_count(rank: int, rows: int, share: float = ZIPF_SHARE) -> int:
    """K of the term of this frequency rank by Zipf's law: share / rank of all features.

    >>> zipf_count(100, 100_000)
    70
    """
    return max(1, round(share / rank * rows))


def ranks_by_zipf(rows: np.ndarray, delta: float = DELTA) -> dict[int, Cost]:
    """Costs of the 1st, 10th, 100th and 1000th most common term."""
    columns = columns_of(rows)
    return {rank: cost_of_count(columns, zipf_count(rank, len(rows)), delta) for rank in RANKS}


def cost_of_rows(rows: np.ndarray, places: list[np.ndarray], delta: float = DELTA) -> tuple[np.ndarray, np.ndarray]:
    """D(P || Q) and D(Q || P), read at `delta`, for given sets of rows (the true rows of each term).

    >>> forward, backward = cost_of_rows(np.random.default_rng(0).normal(size=(500, 2)), [np.arange(5), np.arange(0)])
    >>> bool(forward[0] > 0), float(forward[1])
    (True, 0.0)
    """
    counts = np.array([len(p) for p in places])
    owner = np.repeat(np.arange(len(places)), counts)
    flat = np.concatenate(places) if len(places) else np.zeros(0, np.int64)
    return cost_of_pairs(rows, owner, flat, len(places), delta)


def cost_of_pairs(
    rows: np.ndarray, owner: np.ndarray, place: np.ndarray, count: int, delta: float = DELTA
) -> tuple[np.ndarray, np.ndarray]:
    """The same for pairs (term, row), all terms at once: sums per term by one pass over the pairs."""
    n = len(rows)
    removed = np.bincount(owner, minlength=count).astype(np.float64)
    left = np.maximum(n - removed, 1)
    laws = []
    for j in range(rows.shape[1]):
        x = rows[:, j].astype(np.float64)
        x = (x - x.mean()) / (x.std() or 1.0)
        mean = (x.sum() - np.bincount(owner, x[place], count)) / left
        variance = ((x**2).sum() - np.bincount(owner, x[place] ** 2, count)) / left - mean**2
        laws.append((x.mean(), x.var(), mean, np.where(removed > n - 2, 0.0, np.maximum(variance, 0.0))))
    found = []
    for backward in (False, True):
        pairs = [(m2, v2, m1, v1) if backward else (m1, v1, m2, v2) for m1, v1, m2, v2 in laws]
        epsilon, _ = best_order(lambda a, pairs=pairs: sum(gaussian(a, *p) for p in pairs), delta, count)
        found.append(np.where(removed == 0, 0.0, epsilon))
    return found[0], found[1]


def cost_of_several(curves: Sequence[np.ndarray], delta: float = DELTA) -> float:
    """Section 6.1: terms that are unknown together and correlated cost the sum of their divergences.

    >>> one = np.full(len(ORDERS), 0.01)
    >>> cost_of_several([one, one]) > cost_of_several([one])
    True
    """
    return float(np.min(np.sum(curves, axis=0) - math.log(delta) / (ORDERS - 1)))
