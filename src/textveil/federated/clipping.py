"""Shortening updates so that none is longer than C, however long it was.

Claim. The result has norm at most C, whatever comes in: zero, 10^6 times too long, of any shape. What is not finite is
refused before (`is_finite`). A zero update stays zero: it is never divided by.
Derivation. Norms are sums of squares in double precision. Clipping aims MARGIN below C, which is more than rounding to
single precision can add, so that C itself holds for what is sent. Per layer: each of the L parameters is shortened to
C / sqrt(L), so that all together have norm at most C. On the server a sum of k updates is projected onto the ball of radius
k C: a projection moves two points no farther apart than they were, so it leaves the sensitivity as it is, and an honest
sum is inside the ball already.
"""

from __future__ import annotations

import math

import numpy as np

from .weights import Flat, Layout

MARGIN = 1e-6


def norm_of(values: Flat) -> float:
    """The L2 norm, in double precision.

    >>> norm_of(np.float32([3, 4]))
    5.0
    """
    wide = values.astype(np.float64)
    return math.sqrt(float(wide @ wide))


def is_finite(values: Flat) -> bool:
    """Whether every value is a number, and the norm too."""
    return bool(np.isfinite(values).all()) and math.isfinite(norm_of(values))


def clip_flat(update: Flat, clip: float) -> Flat:
    """The update, shortened to norm `clip` where it is longer.

    >>> clip_flat(np.float32([3e6, 4e6]), 5.0).round(3).tolist(), clip_flat(np.float32([0, 0]), 5.0).tolist()
    ([3.0, 4.0], [0.0, 0.0])
    """
    norm = norm_of(update)
    most = clip * (1 - MARGIN)
    return update if norm <= most else (update.astype(np.float64) * (most / norm)).astype(np.float32)


def clip_layers(update: Flat, clip: float, layout: Layout) -> Flat:
    """Each parameter shortened to its share of the norm."""
    share = clip / math.sqrt(len(layout.names))
    return np.concatenate([clip_flat(update[place], share) for place in layout.slices()])


def clipped(update: Flat, clip: float, clipping: str, layout: Layout) -> Flat:
    """The update as the plan's clipping shortens it."""
    return clip_layers(update, clip, layout) if clipping == "per-layer" else clip_flat(update, clip)


def next_clip(clip: float, share_below: float, quantile: float, rate: float) -> float:
    """Adaptive clipping: down when more updates than wanted are below the clip, up when fewer (Andrew et al. 2021).

    The noisy share is held to [0, 1], so that one round moves the clip by at most exp(rate).

    >>> next_clip(1.0, 0.5, 0.5, 0.2), next_clip(1.0, 9.0, 0.5, 0.2) < 1.0
    (1.0, True)
    """
    share = min(1.0, max(0.0, share_below))
    return clip * math.exp(-rate * (share - quantile))
