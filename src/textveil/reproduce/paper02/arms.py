"""Paper 02: what is released of a corpus at one privacy level, arm by arm.

    none                          noise on every word
    random, frequency, cluster, disperse   the four groupings, K groups, epsilon in total (a tenth of it for corpus counts)
    random paper, frequency paper          the same under the paper's printed rule eps' = M eps / K; the true total is larger
    corpus counts                 a control of ours: epsilon is spent on the corpus counts alone, and documents are drawn from
                                  them. It knows nothing about any document: a topic model can only find word frequencies.
    none aware, frequency aware   the noise of `none` and `frequency`, not clamped; topics by inference that knows its law

Noise depends on N / epsilon alone, so (eps 5, N 10) and (eps .5, N 1) are one and the same release, read from one cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from textveil.counts.decompression import decompress
from textveil.counts.denoise import NoiseAwareTopics
from textveil.counts.matrix import noisy_corpus_counts
from textveil.counts.mechanism import LimitedPrecision
from textveil.counts.spending import scale_for
from textveil.noise.source import seeded
from textveil.reproduce.paper02.data import Corpus, seed_of

GROUPINGS = ("random", "frequency", "cluster", "disperse")
PAPER_RULE = ("random paper", "frequency paper")
CONTROL = "corpus counts"
ARMS = ("none", *GROUPINGS, *PAPER_RULE, CONTROL)
AWARE = ("none", "frequency")  # arms whose noise is also handed over unclamped


@dataclass(frozen=True)
class Level:
    """One privacy level of one start, and the number of groups."""

    epsilon: float
    precision: int
    groups: int
    seed: int

    def seed_for(self, use: str, arm: str) -> int:
        return seed_of(use, arm, float(self.epsilon), self.precision, self.seed)


@dataclass(frozen=True)
class Private:
    """Counts that a topic model can take; for the arms in AWARE also the noisy cells and the rate of their noise."""

    counts: sparse.csr_array
    cells: np.ndarray | None = None
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    rate: float = 0.0

    def aware_topics(self, topics: int, rounds: int, seed: int) -> np.ndarray:
        model = NoiseAwareTopics(
            topics, self.rate, groups=self.groups, weights=self.weights, iterations=rounds, seed=seed
        )
        return model.fit(self.cells).components_


def mechanism(corpus: Corpus, arm: str, level: Level, **settings: Any) -> LimitedPrecision:
    """The mechanism behind an arm (not for the control)."""
    method, *rule = arm.split(" ")
    compressed = {} if method == "none" else {"compress": level.groups, "method": method}
    return LimitedPrecision(
        level.epsilon,
        level.precision,
        **compressed,
        budget="paper" if rule else "total",
        seed=level.seed_for("grouping", arm),
        words=corpus.words,
        vectors=corpus.vectors,
        empty="keep",
        **settings,
    ).fit(corpus.counts)


def private(corpus: Corpus, arm: str, level: Level) -> Private:
    """What an arm makes of the corpus. Noise and grouping have seeds of their own."""
    noise = seeded(level.seed_for("noise", arm))
    if arm == CONTROL:
        return Private(_from_corpus_counts(corpus, level))
    if arm not in AWARE:
        return Private(sparse.csr_array(mechanism(corpus, arm, level).release(corpus.counts, noise=noise).counts))
    made = mechanism(corpus, arm, level, clamp=False, decompress=False)
    released = made.release(corpus.counts, noise=noise)
    words = np.maximum(released.counts, 0)
    if released.groups is not None:
        words = decompress(words, released.groups, released.weights, noise)
    rate = made.spending().noise / level.precision
    return Private(sparse.csr_array(words), released.counts, released.groups, released.weights, rate)


def _from_corpus_counts(corpus: Corpus, level: Level) -> sparse.csr_array:
    """Documents of equal length (the noisy total shared out), each drawn from the noisy corpus counts."""
    noise = seeded(level.seed_for("noise", CONTROL))
    noisy = np.maximum(noisy_corpus_counts(corpus.counts, scale_for(level.epsilon, level.precision), noise), 0)
    documents = corpus.counts.shape[0]
    draw = np.random.default_rng(level.seed_for("control documents", CONTROL))
    length = max(1, round(noisy.sum() / documents))
    return sparse.csr_array(draw.multinomial(length, noisy / noisy.sum(), size=documents))
