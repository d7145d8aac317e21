"""What a word mechanism does to the words of its public vocabulary, in two figures that decide about use.

    stay    how often a word stays, over words drawn from the public prior without its 150 most frequent ones: these are in
            every text and teach a classifier little, and some settings keep them anyway
    alike   the mean cosine of a word's vector and that of the word drawn for it (centred at the prior's mean): how near a
            substitute is

Nothing but the vocabulary is looked at, so this costs nothing and shows nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.noise import Source
from textveil.text.vectors import Vectors
from textveil.words import tuning
from textveil.words.codes_only import PublicWords
from textveil.words.mechanism import WordMechanism

FREQUENT, DRAWS = 150, 5_000


@dataclass(frozen=True)
class Channel:
    """How words come out."""

    stay: float
    alike: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def has_vectors(mechanism: WordMechanism) -> bool:
    """Whether the vectors of the words are known; of binary codes alone they are not."""
    mechanism._ready()
    return isinstance(mechanism.vectors_, Vectors)


def channel_of(mechanism: WordMechanism, noise: Source, draws: int = DRAWS) -> Channel:
    """Draw public words and look at what they became."""
    if not has_vectors(mechanism):
        raise BadInput("nothing can be said about use where only the codes of words are known", possible="vectors")
    rows = tuning.rows_from(content_prior(mechanism), draws, noise)
    outputs = mechanism.draw(rows, noise).astype(np.int64)
    return Channel(float((rows == outputs).mean()), _alike(mechanism.vectors_, rows, outputs))


def content_prior(mechanism: WordMechanism) -> np.ndarray:
    """The public prior without the most frequent words and without those that the mechanism keeps."""
    prior = drawn_prior(mechanism)
    frequent = np.argsort(-np.asarray(mechanism.vectors_.prior), kind="stable")[:FREQUENT]
    content = prior.copy()
    content[frequent] = 0
    return content / content.sum() if content.sum() > 0 else prior


def drawn_prior(mechanism: WordMechanism) -> np.ndarray:
    """The public prior over the words that are drawn: kept words are shown, so there is nothing to guess about them."""
    mechanism._ready()
    prior = np.array(mechanism.vectors_.prior, dtype=np.float64)
    kept = [row for word in mechanism.kept_ if (row := mechanism.vectors_.words.index(word)) is not None]
    prior[kept] = 0
    return prior / prior.sum()


def _alike(vectors: PublicWords, rows: np.ndarray, outputs: np.ndarray) -> float:
    points = vectors.matrix.astype(np.float64) - np.asarray(vectors.prior) @ vectors.matrix
    lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-12)
    return float(((points[rows] * points[outputs]).sum(axis=1) / (lengths[rows] * lengths[outputs])).mean())
