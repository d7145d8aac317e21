"""Which words share a compressed index: the four groupings of the paper. All of them are public or made from noisy counts.

    random      each word to an index drawn uniformly
    frequency   the i-th most frequent word (by public or noisy counts) to index i mod K
    cluster     K clusters of equal size among the words' vectors, one index per cluster
    disperse    about M / K clusters of K words, each word of a cluster to another index

`frequency` and `disperse` keep words apart that would drown each other: frequent ones, or words of one meaning.

Source. Schofield, Yauney, Mimno 2019, section 4 (which prints "N mod K" clusters for the last; K words each is meant).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput, BadParameter
from textveil.core.params import positive_integer
from textveil.noise import Source

from .balanced import balanced_clusters

METHODS = ("random", "frequency", "cluster", "disperse")


def check_groups(compress: int, words: int) -> int:
    """K, if it is a number of groups that so many words can fill.

    >>> check_groups(100, 10)
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadParameter: compress must be at most the number of words in the vocabulary (10), not 100
    """
    if positive_integer("compress", compress) > words:
        raise BadParameter("compress", compress, f"at most the number of words in the vocabulary ({words})")
    return int(compress)


def at_random(words: int, groups: int, source: Source) -> np.ndarray:
    """Each word to an index of its own, drawn uniformly; a few indices may stay empty."""
    return source.below(groups, words)


def by_frequency(counts: np.ndarray, groups: int) -> np.ndarray:
    """Round robin in decreasing order of `counts`; ties in the order of the vocabulary.

    >>> by_frequency(np.array([5, 9, 7, 1]), 2).tolist()
    [0, 0, 1, 1]
    """
    ranks = np.empty(len(counts), np.int64)
    ranks[np.argsort(-np.asarray(counts, np.float64), kind="stable")] = np.arange(len(counts))
    return ranks % groups


def by_cluster(points: np.ndarray, groups: int, source: Source) -> np.ndarray:
    """Words of similar meaning share an index."""
    return balanced_clusters(points, groups, source).labels


def by_dispersion(points: np.ndarray, groups: int, source: Source) -> np.ndarray:
    """Words of similar meaning go to different indices: within a cluster, in random order."""
    clusters = balanced_clusters(points, -(-len(points) // groups), source).labels
    places = source.permutation(len(points))
    order = places[np.argsort(clusters[places], kind="stable")]  # cluster by cluster, random within
    sizes = np.bincount(clusters)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    indices = np.empty(len(points), np.int64)
    indices[order] = np.arange(len(points)) - starts
    return (indices + source.below(groups, int(clusters.max()) + 1)[clusters]) % groups


def membership(groups: np.ndarray, count: int) -> sparse.csr_array:
    """The words x groups matrix of zeros and ones that sums columns."""
    words = len(groups)
    return sparse.csr_array((np.ones(words, np.int64), groups, np.arange(words + 1)), shape=(words, count))


def public_weights(prior: Any, width: int) -> np.ndarray:
    """Public weights of the words, one per column, or BadInput."""
    weights = np.asarray(prior, np.float64)
    if weights.shape != (width,) or not np.isfinite(weights).all() or weights.min() < 0:
        raise BadInput(f"the prior must be {width} finite numbers of 0 or more, one per word of the vocabulary")
    return weights
