"""Paper 02: the cells of topics and of latent semantic analysis, on both collections. Every start draws everything anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from textveil.counts.topics import coherence, exclusivity, lda, matched_jaccard
from textveil.noise.source import seeded
from textveil.reproduce.paper02 import models as models
from textveil.reproduce.paper02.arms import ARMS, AWARE, Level, mechanism, private
from textveil.reproduce.paper02.data import Corpus, complaints, seed_of, synthetic


def topics_level(
    data: Path | None,
    *,
    documents: int,
    vocabulary: int,
    groups: int,
    topics: int,
    iterations: int,
    rounds: int,
    most: int,
    epsilon: float,
    precision: int,
    seed: int,
) -> dict[str, Any]:
    """All arms at one level. `most`: longer documents are thinned for LDA; `rounds` of inference that knows the noise."""
    corpus = corpus_of(data, documents, vocabulary, seed)
    reference = reference_topics(corpus, topics, iterations, seed)
    level = Level(epsilon, precision, groups, seed)
    found = {}
    for arm in ARMS:
        made, start = private(corpus, arm, level), level.seed_for("private model", arm)
        short = models.thinned(made.counts, most, np.random.default_rng(start))
        found[arm] = score(corpus, reference, lda(short, topics, iterations=iterations, seed=start), made.counts)
        if arm in AWARE:
            found[f"{arm} aware"] = score(corpus, reference, made.aware_topics(topics, rounds, start), made.counts)
    return {"arms": found}


def clear_topics(
    data: Path | None, *, documents: int, vocabulary: int, topics: int, iterations: int, seed: int
) -> dict[str, Any]:
    """Without noise: another start of the same model (the ceiling), and random top words (the floor)."""
    corpus = corpus_of(data, documents, vocabulary, seed)
    reference = reference_topics(corpus, topics, iterations, seed)
    again = lda(corpus.counts, topics, iterations=iterations, seed=seed_of("second clear model", seed))
    chance = models.chance_jaccard(reference, np.random.default_rng(seed_of("chance", seed)))
    return {"arms": {"clear": score(corpus, reference, again, corpus.counts), "chance": {"jaccard": chance}}}


def shares_level(
    data: Path | None,
    *,
    documents: int,
    vocabulary: int,
    groups: int,
    topics: int,
    iterations: int,
    epsilon: float,
    precision: int,
    shares: list[float],
    seed: int,
) -> dict[str, Any]:
    """Frequency groups when other shares of epsilon go to the corpus counts."""
    corpus = corpus_of(data, documents, vocabulary, seed)
    reference = reference_topics(corpus, topics, iterations, seed)
    level = Level(epsilon, precision, groups, seed)
    found = {}
    for share in shares:
        arm = f"frequency, {share:g} for corpus"
        start = level.seed_for("private model", arm)
        made = mechanism(corpus, "frequency", level, prior_share=share)
        table = made.release(corpus.counts, noise=seeded(level.seed_for("noise", arm))).counts
        found[arm] = score(corpus, reference, lda(table, topics, iterations=iterations, seed=start), table)
    return {"arms": found}


def lsa_level(
    data: Path, *, documents: int, vocabulary: int, groups: int, rank: int, epsilon: float, precision: int, seed: int
) -> dict[str, Any]:
    """Latent semantic analysis of the complaints, all arms at one level, and of the clear counts."""
    corpus = complaints(data, documents, vocabulary, seed)
    assert corpus.labels is not None
    level, folds = Level(epsilon, precision, groups, seed), seed_of("folds", seed)
    tables = {"clear": corpus.counts} | {arm: private(corpus, arm, level).counts for arm in ARMS}
    found = {arm: models.lsa(t, corpus.counts, corpus.labels, rank=rank, seed=folds) for arm, t in tables.items()}
    _, sizes = np.unique(corpus.labels, return_counts=True)
    return {"arms": found, "largest_category": float(sizes.max() / sizes.sum())}


def corpus_of(data: Path | None, documents: int, vocabulary: int, seed: int) -> Corpus:
    """Complaints, or with a vocabulary of 0 a corpus drawn from a topic model."""
    if vocabulary == 0:
        return synthetic(documents, seed)
    assert data is not None
    return complaints(data, documents, vocabulary, seed)


def reference_topics(corpus: Corpus, topics: int, iterations: int, seed: int) -> np.ndarray:
    """The model of the clear counts that private ones are compared with."""
    return lda(corpus.counts, topics, iterations=iterations, seed=seed_of("clear model", seed))


def score(corpus: Corpus, reference: np.ndarray, law: np.ndarray, table: Any) -> dict[str, float]:
    """Numbers of one private model: topics against the clear model's, lengths and filled cells against the clear counts'."""
    pairs = matched_jaccard(reference, law)
    found = {
        "jaccard": float(pairs.mean()),
        "tenth": float(pairs[min(9, len(pairs) - 1)]),
        "exclusivity": exclusivity(law),
        "coherence": coherence(law, corpus.counts),
        "length": float(table.sum() / corpus.counts.sum()),
        "filled": float((table > 0).sum() / np.prod(table.shape)),
    }
    if corpus.truth is not None:
        found["truth"] = float(matched_jaccard(corpus.truth, law).mean())
    return found
