"""Noise on a row of numbered points that stays on it: the two-sided geometric law, cut off at both ends.

Claim. Let i be one of 0 .. n-1, Z with P[Z = z] = (1 - a) / (1 + a) a^|z|, a = exp(-rate), and M(i) = i + Z, moved to the
nearer end where it falls outside. Then P[M(i) = j] <= exp(rate |i - i'|) P[M(i') = j] for all i, i', j.

Derivation. P[i + Z = k] / P[i' + Z = k] = a^(|k - i| - |k - i'|) <= a^(-|i - i'|) by the triangle inequality; moving to
the ends is a function of i + Z alone. The bound is attained at both ends.

Z is drawn as the difference of two geometric numbers G = floor(E / rate), E with density e^-x, for which
P[G >= k] = P[E >= rate k] = a^k.
"""

from __future__ import annotations

import numpy as np

from textveil.noise import Source


def odds(points: int, rate: float) -> np.ndarray:
    """The whole matrix P[M(i) = j], for small n.

    >>> bool(np.allclose(odds(5, 0.3).sum(axis=1), 1))
    True
    """
    a, place = np.exp(-rate), np.arange(points)
    matrix = (1 - a) / (1 + a) * a ** abs(place[:, None] - place)
    matrix[:, 0], matrix[:, -1] = a**place / (1 + a), a ** (points - 1 - place) / (1 + a)
    return matrix if points > 1 else np.ones((1, 1))


def draw(places: np.ndarray, points: np.ndarray | int, rate: np.ndarray | float, noise: Source) -> np.ndarray:
    """M(i) for each place i; `points` and `rate` may differ from place to place."""
    first, second = (np.floor(noise.exponentials(len(places)) / rate) for _ in range(2))
    moved = np.asarray(places, dtype=np.float64) + first - second
    return np.clip(moved, 0, np.asarray(points) - 1).astype(np.int64)
