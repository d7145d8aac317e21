"""Whole sentences: lawyers mark sentences, and a model that finds some words of one has found it.

A sentence is taken whole when at least `share` of its tokens were found, and left out otherwise. On contracts this is
the difference between a model that is nearly always right about few words and one that finds clauses; docs/hashed.md has
the figures, with the command that makes them.
"""

from __future__ import annotations

import numpy as np

SHARE = 0.1


def widen(labels: np.ndarray, sentences: np.ndarray, share: float = SHARE) -> np.ndarray:
    """The labels of whole sentences: the most frequent found label of each, where enough tokens have one.

    >>> widen(np.array([0, 1, 1, 0, 0, 0], np.uint8), np.array([0, 4, 6]), share=0.5).tolist()
    [1, 1, 1, 1, 0, 0]
    """
    if not labels.any():
        return labels
    sizes = np.diff(sentences)
    counts = np.stack(
        [np.add.reduceat(labels == y, sentences[:-1], dtype=np.int64) for y in range(1, labels.max() + 1)]
    )
    winner = counts.argmax(axis=0) + 1
    taken = counts.max(axis=0) >= np.maximum(1, share * sizes)
    return np.repeat(np.where(taken, winner, 0), sizes).astype(np.uint8)
