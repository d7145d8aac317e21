"""Word clusters from public vectors: k-means on their directions, the same on every machine.

The clusters of the bundled vectors were made once by `make_clusters` and are kept in `default_clusters.npz`: a model must
see the same groups wherever it is applied, and a float sum may differ in its last bit between two machines. For vectors of
another file they are computed when first needed.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from textveil.core.errors import BadInput
from textveil.text.vectors import Vectors, load

CLUSTERS = 256
ROUNDS = 25
KEPT = Path(__file__).parent / "default_clusters.npz"


def cluster_of(words: list[str], source: str = "default") -> np.ndarray:
    """The cluster of each word, -1 for words without a vector.

    >>> found = cluster_of(["delaware", "nevada", "qqzz"])
    >>> bool(found[0] == found[1]), int(found[2])
    (True, -1)
    """
    return np.fromiter(map(_table(source).__getitem__, words), np.int32, len(words))


class _Groups(dict[str, int]):
    """Words and their clusters; -1 for any other word."""

    def __missing__(self, word: str) -> int:
        return -1


@lru_cache(maxsize=4)
def clusters_id(source: str | None) -> str | None:
    """A fingerprint of the words and their clusters: kept in a model, so that it never meets other groups."""
    if source is None:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for word, group in _table(source).items():
        digest.update(f"{word} {group}\n".encode())
    return digest.hexdigest()


@lru_cache(maxsize=4)
def _table(source: str) -> dict[str, int]:
    vectors = load(source)
    if source == "default":
        with np.load(KEPT, allow_pickle=False) as kept:
            if str(kept["vectors"]) != vectors.fingerprint:
                raise BadInput("belongs to other vectors than the bundled ones", where=KEPT)
            groups = kept["groups"]
    else:
        groups = make_clusters(vectors)
    return _Groups(zip(vectors.words, groups.tolist(), strict=True))


def make_clusters(vectors: Vectors, clusters: int = CLUSTERS, rounds: int = ROUNDS) -> np.ndarray:
    """k-means on unit vectors, begun at words spread evenly over the ranks; no randomness."""
    points = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    k = min(clusters, len(points))
    centres = points[np.linspace(0, len(points) - 1, k).astype(int)].copy()
    groups = np.zeros(len(points), np.uint16)
    for _ in range(rounds):
        groups = (points @ centres.T).argmax(axis=1).astype(np.uint16)
        sums = np.zeros(centres.shape)
        np.add.at(sums, groups, points)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres).astype(np.float32)
    return groups
