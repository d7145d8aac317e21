"""Which phrase pairs are frequent enough to be shown, under differential privacy for a sentence pair.

Claim. For one sentence pair that is there or not there, the types that are shown and their noisy counts keep
(epsilon, delta). Derivation. A sentence pair counts at most D0 different phrase pairs, each once, drawn at random
from its own. It moves the histogram of types by at most sqrt(D0) in L2; Gaussian noise and a threshold follow as for
a vocabulary (`accounting.thresholds`, `training.vocabulary`). Types are counted by a keyed 64-bit number: two types
with one number are one entry, which a sentence pair still moves by at most 1. A type that nobody else has shares the
number of a shown one with chance D0 * (shown types) / 2^64 at most; for up to 2^31 of these COLLISIONS = 2^-33 bounds
it, as a part of delta of its own.

This needs that the phrases of a sentence pair follow from that pair and public facts alone: the aligner must not have
learnt from the private text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from textveil.accounting.thresholds import Noising, noising
from textveil.core import Stated
from textveil.core.errors import BadParameter
from textveil.core.events import RepeatedNoise
from textveil.core.params import open_fraction
from textveil.noise.discrete import discrete_gaussian

COLLISIONS = 2.0**-33


def phrase_noising(epsilon: float, delta: float, distinct: int) -> Noising:
    """The least noise on counts of phrases that keeps (epsilon, delta) together with COLLISIONS."""
    if open_fraction("delta", delta) <= 2 * COLLISIONS:
        raise BadParameter("delta", delta, f"above {2 * COLLISIONS:.2g}")
    return noising(epsilon, delta - COLLISIONS, "gaussian", distinct)


def parts_of(own: Noising) -> tuple[RepeatedNoise, ...]:
    """What is drawn, as the accountant composes it."""
    return (*own.parts(), RepeatedNoise(Stated(0.0, COLLISIONS)))


class PhraseCounts:
    """Bounded counts of types. Kept on disk while they are collected, 8 bytes for each."""

    def __init__(self, noising: Noising, noise: Any, path: Path | None = None):
        self._noising, self._noise, self._path = noising, noise, path
        self._held = list[np.ndarray]()
        if path is not None:
            path.write_bytes(b"")

    def add(self, pairs: np.ndarray, digests: np.ndarray) -> None:
        """The types of a batch of sentence pairs; of each pair at most D0 different ones count."""
        keys = np.unique(np.stack([pairs.astype(np.uint64), digests], axis=1), axis=0)
        order = self._noise.permutation(len(keys))
        keys = keys[order][np.argsort(keys[order, 0], kind="stable")]  # by pair, in a random order within
        first = np.searchsorted(keys[:, 0], keys[:, 0], side="left")
        bounded = keys[np.arange(len(keys)) - first < self._noising.distinct, 1]
        if self._path is None:
            self._held.append(bounded)
            return
        with open(self._path, "ab") as file:
            bounded.tofile(file)

    def shown(self) -> dict[int, float]:
        """Noisy counts of the types that reached the threshold, by their number."""
        held = (
            np.fromfile(self._path, np.uint64) if self._path else np.concatenate([np.zeros(0, np.uint64), *self._held])
        )
        types, counts = np.unique(held, return_counts=True)
        own, grid = self._noising, self._noising.grid
        noisy = counts.astype(np.int64) * grid + discrete_gaussian(len(types), own.scale * grid, self._noise)
        passing = noisy >= own.least()
        return dict(zip(types[passing].tolist(), (noisy[passing] / grid).tolist(), strict=True))


def rows_of(cut: Any, digests: np.ndarray, shown: dict[int, float]) -> Iterator[list[Any]]:
    """Each shown type once, with its noisy count; what was given is taken out of `shown`."""
    for source, target, digest in zip(cut.source, cut.target, digests.tolist(), strict=True):
        if (count := shown.pop(digest, None)) is not None:
            yield [source, target, max(1, round(count))]


__all__ = ["COLLISIONS", "PhraseCounts", "parts_of", "phrase_noising", "rows_of"]
