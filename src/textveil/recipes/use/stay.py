"""How many words stayed as they were, by how frequent they are in the public vocabulary.

Chance is what a reader would see if the released words were dealt out again at random: the share of the places at which a
word would meet itself by its frequency alone.
"""

from __future__ import annotations

import numpy as np

from textveil.core.utility import Utility
from textveil.recipes.use.classify import share_interval

BANDS = ((100, "the 100 most frequent words"), (1_000, "words 101 to 1,000"), (10_000, "words 1,001 to 10,000"))
REST, OUTSIDE, ALL = "rarer words of the vocabulary", "words outside the vocabulary", "all words"
TASK = "words that stayed"


def stay_by_band(released: np.ndarray, original: np.ndarray, prior: np.ndarray) -> list[Utility]:
    """The share of words that stayed: all of them, then band by band. Rows are of the vocabulary, -1 outside it."""
    order = np.argsort(-prior, kind="stable")
    rank = np.empty(len(prior), np.int64)
    rank[order] = np.arange(len(prior))
    place = np.where(original >= 0, rank[np.maximum(original, 0)], -1)
    bands = [(ALL, np.ones(len(place), bool)), (OUTSIDE, place < 0)]
    low = 0
    for high, name in BANDS:
        bands.append((name, (place >= low) & (place < high)))
        low = high
    bands.append((REST, place >= low))
    shares = np.bincount(released, minlength=len(prior)) / len(released)
    return [_share(name, released[own], original[own], shares) for name, own in bands if own.any()]


def _share(name: str, released: np.ndarray, original: np.ndarray, shares: np.ndarray) -> Utility:
    stayed = released == original
    by_chance = np.where(original >= 0, shares[np.maximum(original, 0)], 0.0).mean()
    return Utility(
        f"{TASK}: {name}",
        "share of occurrences",
        float(stayed.mean()),
        1.0,
        float(by_chance),
        share_interval(stayed),
        sizes={"words": len(stayed)},
        how="word by word",
    )
