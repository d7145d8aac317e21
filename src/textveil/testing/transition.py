"""An exact certificate for mechanisms whose odds can be written down.

Claim. With P[a, y] the chance of output y for input a and d a metric on inputs, `certify` returns
max over (a, b, y) of ln P[a, y] - ln P[b, y] - epsilon d(a, b). The mechanism keeps epsilon-metric-DP exactly when that is
at most 0. An output that is possible from one input and impossible from another gives infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..accounting.largest_gaps import worst_excess

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Certificate:
    """The worst excess over the promise in nats (0 or less: kept), where it occurs, and how exact the figure is."""

    worst: float
    at: tuple[int, int, int] | None
    numeric_error: float

    def holds(self, tolerance: float = 1e-9) -> bool:
        return self.worst <= tolerance + self.numeric_error


def certify(matrix: Any, distances: Any, epsilon: float, *, error: float = 0.0) -> Certificate:
    """Compare every pair of rows at every output. `error` bounds the relative error of the odds (a quadrature's, say).

    >>> flip = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> round(certify(flip, [[0, 1], [1, 0]], epsilon=math.log(2)).worst, 6)   # ln 3 - ln 2
    0.405465
    >>> certify(flip, [[0, 1], [1, 0]], epsilon=math.log(3)).holds()
    True
    """
    odds, apart = np.asarray(matrix, np.float64), np.asarray(distances, np.float64)
    _check(odds, apart)
    with np.errstate(divide="ignore"):
        log_odds = np.log(odds)
    rounding = 8 * _EPS * (1 + float(np.abs(log_odds[np.isfinite(log_odds)]).max(initial=0.0)))
    numeric_error = 2 * math.log1p(error) + rounding
    if len(odds) < 2:
        return Certificate(-math.inf, None, numeric_error)
    return Certificate(*worst_excess(log_odds, log_odds, epsilon * apart), numeric_error)


def _check(odds: np.ndarray, apart: np.ndarray) -> None:
    if odds.ndim != 2 or apart.shape != (len(odds), len(odds)):
        raise ValueError("there must be one row of odds, and one row and column of distances, per input")
    if not np.isfinite(odds).all() or odds.min(initial=0.0) < 0 or np.abs(odds.sum(axis=1) - 1).max(initial=0.0) > 1e-6:
        raise ValueError("each row must hold chances of 0 or more that sum to 1")
    if not np.isfinite(apart).all() or apart.min(initial=0.0) < 0:
        raise ValueError("distances must be finite and 0 or more")
