"""Renyi divergences between a fitted law and its neighbour, and the (epsilon, delta) that they are read as.

Gaussians in one dimension (Gil, Alajaji and Linder 2013), with s = a v2 + (1 - a) v1:
    D_a(N(m1, v1) || N(m2, v2)) = ln(v2 / v1) / 2 + ln(v2 / s) / (2 (a - 1)) + a (m1 - m2)^2 / (2 s)     if s > 0, else
                                                                                                         infinite

Laws on a grid (rounded kernel densities) have no closed form, and need none: the sum over the grid
    D_a(p || q) = ln( sum_g p_g^a q_g^(1-a) ) / (a - 1)
is exact for what is really drawn. Its only error is of rounding: each of the G terms carries a relative error of at
most (2 a + 4) u (u = 2^-53, logs of magnitude up to 700 multiply it), so the error of D is at most `rounding_bound`.

Reading as (epsilon, delta): epsilon' = D_a + ln(1 / delta) / (a - 1) for any a > 1 (Mironov 2017, proposition 3). As
(a - 1) D_a is convex in a, epsilon' is a convex function over a line: it has one valley, found by golden section in
ln(a - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

DELTA = 1e-5  # the paper's
ORDERS = 1 + np.geomspace(0.25, 1e5, 64)  # at which divergences of several releases are kept and added
_LOW, _HIGH = math.log(1e-4), math.log(1e9)  # of alpha - 1
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 70


def gaussian(alpha: np.ndarray | float, m1, v1, m2, v2) -> np.ndarray:
    """Renyi divergence of order `alpha` from N(m1, v1) to N(m2, v2); arrays broadcast.

    >>> float(gaussian(2.0, 1.0, 1.0, 0.0, 1.0))
    1.0
    >>> float(gaussian(2.0, 0.0, 2.0, 0.0, 1.0))
    inf
    """
    alpha, m1, v1, m2, v2 = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (alpha, m1, v1, m2, v2)))
    middle = v2 + (alpha - 1) * (v2 - v1)  # = alpha v2 + (1 - alpha) v1, without cancellation at large alpha
    fine = (middle > 0) & (v1 > 0) & (v2 > 0)
    middle, v1, v2 = (np.where(fine, x, 1.0) for x in (middle, v1, v2))
    # logs of ratios near 1 by log1p, which keeps the digits of small divergences at large orders
    change = (v2 - v1) / v2
    own = np.where(np.abs(change) < 0.5, -np.log1p(-np.clip(change, -0.5, 0.5)), np.log(v2) - np.log(v1))
    step = (alpha - 1) * change
    other = np.where(np.abs(step) < 0.5, np.log1p(np.clip(step, -0.5, 0.5)), np.log(middle) - np.log(v2))
    spread = (own - other / (alpha - 1)) / 2
    with np.errstate(over="ignore"):  # infinite is what it then is
        shift = alpha * (m1 - m2) ** 2 / (2 * middle)
    return np.where(fine, np.maximum(0.0, spread + shift), np.inf)


def gaussian_rows(alpha: float, m1: np.ndarray, s1: np.ndarray, m2: np.ndarray, s2: np.ndarray) -> float:
    """The same for whole rows: two Gaussians with covariances s1, s2.

    >>> gaussian_rows(2.0, np.ones(2), np.eye(2), np.zeros(2), np.eye(2))
    2.0
    """
    middle = s2 + (alpha - 1) * (s2 - s1)
    if np.linalg.eigvalsh(middle).min() <= 0:
        return math.inf
    gap = m1 - m2
    logs = [np.linalg.slogdet(s)[1] for s in (s1, s2, middle)]
    spread = ((1 - alpha) * logs[0] + alpha * logs[1] - logs[2]) / (2 * (alpha - 1))
    return float(max(0.0, spread + alpha / 2 * gap @ np.linalg.solve(middle, gap)))


def on_grid(alpha: float, p: np.ndarray, q: np.ndarray) -> float:
    """Renyi divergence between two laws on one grid.

    >>> round(on_grid(2.0, np.array([0.5, 0.5]), np.array([0.25, 0.75])), 6) == round(math.log(4 / 3), 6)
    True
    """
    here = p > 0
    if (q[here] <= 0).any():
        return math.inf
    logs = alpha * np.log(p[here]) + (1 - alpha) * np.log(q[here])
    top = logs.max()
    return max(0.0, float(top + np.log(np.exp(logs - top).sum())) / (alpha - 1))


def rounding_bound(alpha: float, size: int) -> float:
    """How far `on_grid` can be from the exact sum: rounding of logs (each below 750 in size), exponentials and the sum."""
    unit = 2.0**-53
    return ((2 * alpha + 4) * 750 + size) * unit / (alpha - 1)


def best_order(
    divergence: Callable[[np.ndarray], np.ndarray], delta: float, count: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest epsilon' and its order, for `count` divergences at once (`divergence` maps orders to divergences).

    >>> epsilon, order = best_order(lambda a: gaussian(a, 0.1, 1.0, 0.0, 1.0), 1e-5)
    >>> round(float(epsilon[0]), 4), round(float(order[0]), 1)      # rho + 2 sqrt(rho ln(1/delta)), rho = .005
    (0.4849, 49.0)
    """
    slack = -math.log(delta)

    def read(logs: np.ndarray) -> np.ndarray:
        return divergence(1 + np.exp(logs)) + slack * np.exp(-logs)

    low, high = np.full(count, _LOW), np.full(count, _HIGH)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = read(left), read(right)
    for _ in range(_STEPS):
        smaller = at_left <= at_right  # infinite on both sides: the finite orders are the small ones
        high, low = np.where(smaller, right, high), np.where(smaller, low, left)
        inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        right, left = np.where(smaller, left, outer), np.where(smaller, inner, right)
        fresh = read(np.where(smaller, left, right))
        at_left, at_right = np.where(smaller, fresh, at_right), np.where(smaller, at_left, fresh)
    logs = np.where(at_left <= at_right, left, right)
    return read(logs), 1 + np.exp(logs)
