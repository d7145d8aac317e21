"""Pairs of words for two-world audits: chosen by public distances alone."""

from __future__ import annotations

import numpy as np

from textveil.attacks.words.two_worlds import Pairs
from textveil.core import BadInput
from textveil.noise import Source
from textveil.words.mechanism import WordMechanism
from textveil.words.search import EuclidSearch, HammingSearch
from textveil.words.transition.metric import pair_distances

_LOOKED_AT = 2_000  # words whose neighbours are looked for


def nearest_others(mechanism: WordMechanism, rows: np.ndarray) -> np.ndarray:
    """The nearest other word of each (Mahalanobis and angular mechanisms: by Euclidean distance)."""
    if mechanism.metric == "hamming":
        codes = mechanism.codes_  # type: ignore[attr-defined]
        near = HammingSearch(codes.words64, codes.bits).k_nearest(codes.words64[rows], 2)[0]
    else:
        matrix = mechanism.vectors_.matrix
        near = EuclidSearch(matrix).k_nearest(matrix[rows], 2)[0]
    return np.where(near[:, 0] == rows, near[:, 1], near[:, 0]).astype(np.int64)


def word_pairs(mechanism: WordMechanism, count: int, noise: Source) -> Pairs:
    """`count` pairs: the nearest neighbours of a sample (the closest first among them), and as many random ones."""
    words = count_of(mechanism)
    rows = noise.permutation(words)[:_LOOKED_AT]
    others = nearest_others(mechanism, rows)
    close = np.argsort(pair_distances(mechanism, rows, others), kind="stable")
    near = count - count // 2
    picked = np.unique(np.concatenate([close[: near - near // 2], np.arange(min(near // 2, len(rows)))]))
    any_first = noise.below(words, count // 2)
    any_second = (any_first + 1 + noise.below(words - 1, count // 2)) % words
    first, second = np.concatenate([rows[picked], any_first]), np.concatenate([others[picked], any_second])
    return Pairs(first, second, pair_distances(mechanism, first, second))


def count_of(mechanism: WordMechanism) -> int:
    count = len(mechanism.vectors_)
    if count < 2:
        raise BadInput("a vocabulary of one word has no pairs to compare")
    return count
