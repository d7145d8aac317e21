"""How the suite reads a word mechanism: what it makes of one word, and how far its inputs are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..noise import secure
from ..noise.multivariate import mahalanobis_distance, regularised_root
from .designs import Design


def veil_word(mechanism: Any, design: Design, word: str, tries: int) -> NDArray[np.int64]:
    """The rows of the words that come out for `tries` occurrences of one word; len(words) for anything else.

    A capital at the start of a sentence tells nothing, and is not looked at.
    """
    place = {w: row for row, w in enumerate(design.words)}
    out = mechanism.apply([" ".join([word] * tries)], noise=secure())[0].lower().split()
    return np.array([place.get(w, len(design.words)) for w in out], dtype=np.int64)


def distances_between(mechanism: Any, inputs: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.float64] | None:
    """Distances among input rows in the promise's metric; the row after the last word is that of unknown words.

    Euclidean, Hamming and Mahalanobis distances are computed here, from the public vectors, and not taken from the
    mechanism. For other metrics it is asked: `distances(rows)` -> (rows, words). None where that is missing.
    """
    rows = np.asarray(inputs)
    points = np.vstack([mechanism.vectors_.matrix, mechanism.vectors_.fallback[None]]).astype(np.float64)
    metric = getattr(mechanism, "metric", "")
    if metric == "hamming":
        return _hamming(mechanism, rows)
    if metric == "euclidean":
        return np.linalg.norm(points[rows][:, None] - points[rows][None], axis=-1)
    if metric == "mahalanobis" and hasattr(mechanism, "lam"):
        _, inverse = regularised_root(mechanism.vectors_.matrix, float(mechanism.lam))
        return mahalanobis_distance(points[rows][:, None], points[rows][None], inverse)
    return _asked(mechanism, rows) if hasattr(mechanism, "distances") else None


def _hamming(mechanism: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    codes = getattr(mechanism, "codes_", None) or mechanism.vectors_.codes
    packed = np.ascontiguousarray(np.vstack([codes.words64, codes.fallback[None]])[rows])
    bits = np.unpackbits(packed.view(np.uint8), axis=1).astype(np.float64)
    return np.abs(bits[:, None] - bits[None]).sum(axis=-1)


def _asked(mechanism: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    words = len(mechanism.vectors_)
    apart = np.zeros((len(rows), len(rows)))
    known = rows < words
    asked = np.asarray(mechanism.distances(rows), np.float64)
    apart[:, known] = asked[:, rows[known]]
    apart = np.maximum(apart, apart.T)  # to the point of unknown words only the other direction is told
    np.fill_diagonal(apart, 0.0)
    return apart
