"""A prior over words that was learnt from private text, and what that costs.

Claim. `PrivatePrior` is epsilon-DP for whole documents (add or remove one).

Derivation. Of each document at most `cap` words of the vocabulary are counted (its first ones), so one document
changes the histogram by at most `cap` in L1. Two-sided geometric noise of scale cap / epsilon on every word of the
public vocabulary, present or not, makes it epsilon-DP (noise.discrete). The rest is post-processing: counts that
stand out from the noise of all words (above scale * ln |W|) are kept, and the other words share what is left of the
total in proportion to the public prior.

Tuned parameters that depend on private text only through this prior cost nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from textveil.core import Adjacency, Event, LaplaceNoise, Shape, Unit
from textveil.core.inputs import check_texts
from textveil.core.params import positive, positive_integer
from textveil.noise import Source
from textveil.noise.discrete import geometric
from textveil.text import tokens
from textveil.text.vectors import Vectors


@dataclass(frozen=True)
class PrivatePrior:
    """A Mechanism: texts in, a prior over the words of `vectors` out."""

    vectors: Vectors
    epsilon: float
    cap: int
    name: ClassVar[str] = "words.prior"

    def __post_init__(self) -> None:
        positive("prior-epsilon", self.epsilon)
        positive_integer("max-words", self.cap)

    def event(self, shape: Shape | None = None) -> Event:
        assumes = (
            f"at most {self.cap} words of a document are counted",
            "the vocabulary and the public prior are public",
        )
        noise = LaplaceNoise(1 / self.epsilon)  # of scale cap / epsilon: the multiplier is per unit of the bound
        return Event(noise, Unit.DOCUMENT, Adjacency.ADD_REMOVE, 1, assumes, "geometric mechanism", self.name)

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse what is no texts, before anything is charged."""
        check_texts(data)

    def count(self, texts: Iterable[str]) -> np.ndarray:
        """How often each word of the vocabulary occurs, each document cut to `cap` counted words. Private."""
        counts = np.zeros(len(self.vectors), dtype=np.int64)
        for text in texts:
            found = [row for word in tokens.words(text) if (row := self.vectors.index(tokens.fold(word))) is not None]
            np.add.at(counts, found[: self.cap], 1)
        return counts

    def noised(self, counts: np.ndarray, noise: Source) -> np.ndarray:
        """The prior, from counts that are private to one that is not."""
        scale = self.cap / self.epsilon
        return smoothed(
            counts + geometric(len(counts), scale, noise), self.vectors.prior, scale * math.log(len(counts) + 1)
        )

    def apply(self, data: Sequence[str], *, noise: Source) -> np.ndarray:
        return self.noised(self.count(data), noise)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "cap": self.cap}


def smoothed(counts: np.ndarray, public: np.ndarray, threshold: float) -> np.ndarray:
    """Counts above the threshold as they are; the other words share the rest in proportion to the public prior.

    >>> smoothed(np.array([6, 1, 1]), np.array([0.5, 0.25, 0.25]), 3).tolist()
    [0.75, 0.125, 0.125]
    """
    kept = np.where(counts > threshold, counts, 0).astype(np.float64)
    others = np.where(kept > 0, 0.0, public)
    total = max(float(counts.sum()), float(kept.sum()))
    if kept.sum() == 0 or total <= 0:
        return np.asarray(public, dtype=np.float64) / public.sum()
    rest = total - kept.sum() if others.sum() > 0 else 0.0
    mixed = kept + (rest / others.sum() * others if rest else 0.0)
    return mixed / mixed.sum()
