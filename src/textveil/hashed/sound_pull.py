"""The pull of a data set on the weights, with a bound on what one unit can change.

Claim. For any weights w, two data sets that differ in one unit (a paragraph or a document that is there or is not
there) have sums P(D, w), P(D', w) at most BOUND = 1 apart in Euclidean length.

Derivation. Sentence s with row x_s (length at most 1) and score z_s = <w, x_s> - offset pulls by r_s x_s, where r_s =
min(1, boost * (1 - sigma(z_s))) if it is a clause and r_s = -sigma(z_s) if not: the slope of a convex loss, logistic
up to the boost, that is never steeper than 1. A unit pulls by g_u = sum of r_s x_s over its sentences, divided by
max(1, ||g_u||). Rows and labels of a unit depend on that unit alone, and w is fixed, so P(D) - P(D') is the pull of
one unit: at most 1. ||g_u|| <= sum |r_s| saves most units the exact length. Rows are single precision: their true
length may exceed 1 by 2^-20, which the division by 1 + SLACK covers.
"""

from __future__ import annotations

import numpy as np

from textveil.hashed.sound_examples import Examples
from textveil.hashed.sound_plan import SoundPlan

BOUND = 1.0
SLACK = 1e-5


def pull(examples: Examples, weights: np.ndarray, plan: SoundPlan) -> np.ndarray:
    """P(D, w), one number per slot: the direction in which the units together want the weights to move."""
    slopes = clipped(slopes_of(examples, weights, plan), examples)
    return examples.columns @ slopes


def slopes_of(examples: Examples, weights: np.ndarray, plan: SoundPlan) -> np.ndarray:
    """r_s of every sentence, before clipping; from -1 to 1."""
    chance = sigmoid(examples.rows @ weights - plan.offset)
    return np.where(examples.labels, np.minimum(1.0, plan.boost * (1.0 - chance)), -chance)


def clipped(slopes: np.ndarray, examples: Examples) -> np.ndarray:
    """Slopes scaled unit by unit, so that no unit pulls by more than BOUND."""
    length = np.bincount(examples.units, np.abs(slopes), examples.count)
    over = np.flatnonzero(length > BOUND)
    if len(over):
        length[over] = _exact_lengths(slopes, examples, over, length)
    scale = BOUND / np.maximum(BOUND, length) / (1.0 + SLACK)
    return slopes * scale[examples.units]


def sigmoid(scores: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(np.asarray(scores, np.float64), -40.0, 40.0)))


def _exact_lengths(slopes: np.ndarray, examples: Examples, over: np.ndarray, length: np.ndarray) -> np.ndarray:
    """||g_u|| of the units in `over`."""
    from scipy import sparse

    sentences = np.flatnonzero(length[examples.units] > BOUND)
    unit = np.searchsorted(over, examples.units[sentences])
    places = (unit, np.arange(len(sentences)))
    sums = sparse.csr_matrix((slopes[sentences], places), shape=(len(over), len(sentences))) @ examples.rows[sentences]
    return np.sqrt(np.bincount(np.repeat(np.arange(len(over)), np.diff(sums.indptr)), sums.data**2, len(over)))
