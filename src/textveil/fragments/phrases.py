"""Consistent phrase pairs (Koehn, Och and Marcu 2003), as Moses extracts them.

A phrase pair is consistent when no word inside is linked to a word outside, and at least one link lies inside. Both
sides have at most so many words; words without a link join at the edges.
"""

from __future__ import annotations

import numpy as np

from .aligner import Links
from .sentences import Side

_COLUMNS = ("pair", "source from", "source to", "target from", "target to")  # ends lie outside


def extract(
    source_starts: np.ndarray,
    target_starts: np.ndarray,
    links: Links,
    longest: int = 4,
    longest_target: int | None = None,
    shortest: int = 1,
) -> np.ndarray:
    """One row (pair, source from, to, target from, to) for each consistent phrase pair, ends outside.

    >>> links = Links(np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([0, 2]))
    >>> extract(np.array([0, 2]), np.array([0, 2]), links).tolist()
    [[0, 1, 2, 0, 1], [0, 0, 2, 0, 2], [0, 0, 1, 1, 2]]
    """
    from . import phrase_kernel as kernel

    sizes = (source_starts, target_starts, *links, longest, longest_target or longest, shortest)
    spans = np.empty((kernel.extract(*sizes, np.empty((0, 5), np.int32), True), len(_COLUMNS)), np.int32)
    kernel.extract(*sizes, spans, False)
    return spans


def segmentation(spans: np.ndarray, priorities: np.ndarray) -> np.ndarray:
    """Which phrase pairs are chosen, by falling priority, so that no two of a sentence pair share a word on either side."""
    from . import phrase_kernel as kernel

    keep = np.zeros(len(spans), bool)
    longest = int(spans[:, 1:].max(initial=1)) + 1
    kernel.segment(spans, np.lexsort((-priorities, spans[:, 0])), longest, keep)
    return keep


def texts_of(spans: np.ndarray, source: Side, target: Side) -> tuple[list[str], list[str]]:
    """The two sides of each phrase pair as they stand in the text."""
    pairs, s1, s2, t1, t2 = spans.astype(np.int64).T
    return source.phrases(pairs, s1, s2), target.phrases(pairs, t1, t2)


__all__ = ["extract", "segmentation", "texts_of"]
