"""Policy weights: each unit spends its contribution where it still helps (Gopi et al. 2020, "Differentially private set
union").

Claim. The weights of two data sets that differ in one unit are at most 1 + SLACK apart in L2.
Derivation. Units come in an order that adding or removing one does not change for the others. A unit moves the weights
of its own words straight towards a common cutoff, by a step of length 1 (or less, if that reaches it). Seen from the
cutoff this shortens a vector by 1: the proximal map of the norm, which never increases the distance of two points. So
later units keep the distance that the one unit made, at most 1. Words that have reached the cutoff take nothing, which
leaves more for rarer words.
SLACK covers arithmetic: doubles lose less than 2e-6 over 10^7 units of 512 words, and rounding to a grid of
2^-32 moves fewer than 2^30 words by 2^-33 each, 2^-17 < 8e-6 in all.

A word that only one unit holds has weight at most 1/sqrt(t) if the unit has t such words; none of t words passes the
threshold r with chance 1 - delta if r >= 1/sqrt(t) + sigma * z((1 - delta)^(1/t)); r is the largest of these over t <=
D0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from textveil.accounting.thresholds import GRID

ABOVE = 5.0  # the cutoff stands so many deviations above the threshold: enough to pass almost surely


def policy_weights(units: Sequence[np.ndarray], words: int, cutoff: float) -> np.ndarray:
    """The weight of each word after all units, in the order given.

    >>> policy_weights([np.array([0, 1]), np.array([0])], 3, cutoff=10.0).round(3).tolist()
    [1.707, 0.707, 0.0]
    """
    weights = np.zeros(words)
    for unit in units:
        gap = cutoff - weights[unit]
        length = math.sqrt(float(gap @ gap))
        if length > 0:
            weights[unit] += gap if length <= 1 else gap / length
    return weights


def even_weights(units: Sequence[np.ndarray], words: int) -> np.ndarray:
    """Each unit spreads a contribution of length 1 evenly over its words.

    >>> even_weights([np.array([0, 1, 2, 3]), np.array([0])], 4).tolist()
    [1.5, 0.5, 0.5, 0.5]
    """
    if not units:
        return np.zeros(words)
    sizes = np.array([len(u) for u in units])
    each = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)
    return np.bincount(np.concatenate(units), weights=each, minlength=words)


def on_grid(weights: np.ndarray) -> np.ndarray:
    """Whole multiples of 1 / GRID, so that the noise can be drawn exactly."""
    return np.rint(weights * GRID).astype(np.int64)
