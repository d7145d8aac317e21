"""How near words are to each other, beside how near two of them must be for the promise to protect one.

A promise per step of distance says little to a reader who does not know the distances. Both figures are made from public
vectors and the public prior alone: words are taken at even steps of the prior, so nothing is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textveil.core.guarantee import near_distance
from textveil.core.losses import Metric
from textveil.words.mechanism import WordMechanism
from textveil.words.transition.metric import MEASURED, nearest_distances

LOOKED_AT = 256  # words


class NearWords(NamedTuple):
    """The distance to the nearest other word (median), and the share of words that have one within the promise's reach."""

    nearest: float
    share: float


def near_words(mechanism: WordMechanism) -> NearWords | tuple[()]:
    """The figures of a fitted mechanism; none where distances are not known."""
    vectors = mechanism.vectors_
    if len(vectors) < 2 or mechanism.metric not in MEASURED:
        return ()
    steps = np.cumsum(np.asarray(vectors.prior, dtype=np.float64))
    places = (np.arange(LOOKED_AT) + 0.5) / LOOKED_AT * steps[-1]
    rows = np.minimum(np.searchsorted(steps, places), len(vectors) - 1)
    apart = nearest_distances(mechanism, rows)
    reach = near_distance(Metric(float(mechanism.epsilon), mechanism.metric, mechanism.metric_id()))
    return NearWords(float(np.median(apart)), float(np.mean(apart <= reach)))


__all__ = ["NearWords", "near_words"]
