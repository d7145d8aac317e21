"""Noisy descent: T sums of clipped pulls, each released with Gaussian noise in every slot.

Claim. Releasing S_1, ..., S_T and hence the table is exactly T Gaussian releases of multiplier m: the event
GaussianNoise(m) times T, whatever the documents are and however many there are (no size of the data enters).

Derivation. Step t releases P(D, w_t) + N(0, m^2 I), where w_t is computed from earlier releases only. By sound_pull
one unit moves P by at most 1, so each step is a Gaussian mechanism with contribution bound 1, and steps compose
adaptively. The accounting is exact: T draws of multiplier m are one of m / sqrt(T).

What is computed from the releases costs nothing. S_t, the sum of all releases so far, carries noise of known
deviation m sqrt(t) in every slot, so w_t = rate * S_t moved towards 0 by `shrink` deviations: slots that only hold
noise mostly vanish, slots that many clauses share stay. (This is dual averaging with an L1 penalty that grows as the
noise does.) Noise is drawn for every slot, of words seen or never seen: what of it survives says nothing about which
words were there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textveil.hashed.sound_examples import Examples
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_pull import BOUND, pull
from textveil.noise.source import Source


def descend(
    examples: Examples,
    plan: SoundPlan,
    multiplier: float,
    noise: Source | None,
    *,
    advance: Callable[[float], None] | None = None,
) -> np.ndarray:
    """The weights of all slots after `plan.steps` noisy steps. Without a source: no noise and no promise, for studies."""
    slots = examples.rows.shape[1]
    total, weights = np.zeros(slots), np.zeros(slots)
    for step in range(1, plan.steps + 1):
        total += released(pull(examples, weights, plan), multiplier, noise)
        weights = plan.rate * shrunk(total, plan.shrink * multiplier * BOUND * np.sqrt(step))
        if advance is not None:
            advance(1)
    return weights


def released(values: np.ndarray, multiplier: float, noise: Source | None) -> np.ndarray:
    """The values with noise in every slot."""
    return values if noise is None else values + multiplier * BOUND * noise.normals(values.shape)


def shrunk(values: np.ndarray, by: float) -> np.ndarray:
    """Every value moved towards 0.

    >>> shrunk(np.array([-3.0, 0.5, 2.0]), 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    return np.sign(values) * np.maximum(np.abs(values) - by, 0.0)
