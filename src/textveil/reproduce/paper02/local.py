"""Paper 02, sections 2 and 3: noise that hides whole documents, beside noise that hides passages. Figure 1.

Full local privacy needs a public cap. As in the paper: the largest count of one word in one document, and epsilon "per
feature". The true total of that is larger; "laplace total" is the noise that hides a whole document of up to the longest
length at epsilon in total.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textveil.counts.baselines import FullLocal, Sketch
from textveil.counts.mechanism import LimitedPrecision
from textveil.counts.topics import heat_map, lda, matched_jaccard
from textveil.noise.source import seeded
from textveil.reproduce.paper02.cells import reference_topics
from textveil.reproduce.paper02.data import Corpus, complaints, largest_counts, seed_of
from textveil.reproduce.paper02.models import chance_jaccard, thinned

EPSILON, PRECISION = 2.0, 2
SHOWN_WORDS, SHOWN_DOCUMENTS = 60, 50
SKETCH_WIDTH = 100


def private_tables(corpus: Corpus, caps: tuple[int, int], groups: int, seed: int) -> dict[str, Any]:
    """What each mechanism makes of the counts, negatives set to 0 and rounded. `caps`: counts of a word, of a document."""
    counts = corpus.counts
    most, longest = caps

    def noise(name: str) -> Any:
        return seeded(seed_of("local", name, seed))

    plain = LimitedPrecision(EPSILON, PRECISION, empty="keep").fit(counts)
    grouped = LimitedPrecision(EPSILON, PRECISION, groups, "frequency", empty="keep").fit(counts)
    sketch = Sketch(EPSILON, cap=most, width=SKETCH_WIDTH, seed=seed_of("projection", seed)).fit(counts)
    made = {
        "laplace": FullLocal(EPSILON, most, "laplace", "feature").apply(counts, noise=noise("laplace")),
        "geometric": FullLocal(EPSILON, most, "geometric", "feature").apply(counts, noise=noise("geometric")),
        "laplace total": FullLocal(EPSILON, longest, "laplace").apply(counts, noise=noise("laplace total")),
        "sketch": np.rint(sketch.apply(counts, noise=noise("sketch"))).astype(np.int64),
        "passages": plain.apply(counts, noise=noise("passages")),
        "passages, frequency": grouped.apply(counts, noise=noise("frequency")),
    }
    return {name: sparse.csr_array(np.maximum(table, 0) if name == "sketch" else table) for name, table in made.items()}


def local_lengths(data: Path, *, documents: int, vocabulary: int, groups: int, seed: int) -> dict[str, Any]:
    """Lengths, filled cells and new words per document."""
    corpus = complaints(data, documents, vocabulary, seed)
    there = corpus.counts > 0
    found = {}
    for name, table in private_tables(corpus, largest_counts(data, vocabulary), groups, seed).items():
        new = (table > 0).sum(axis=1) - (table > 0).multiply(there).sum(axis=1)
        found[name] = {
            "length": float(table.sum() / corpus.counts.sum()),
            "filled": float((table > 0).sum() / np.prod(table.shape)),
            "fewest_new_words": int(new.min()),
        }
    caps = dict(zip(("word", "document"), largest_counts(data, vocabulary), strict=True))
    filled = float(there.sum() / np.prod(there.shape))
    return {"arms": found, "caps": caps, "mean_length": float(corpus.counts.sum() / documents), "filled": filled}


def local_topics(
    data: Path, *, documents: int, vocabulary: int, groups: int, topics: int, iterations: int, most: int, seed: int
) -> dict[str, Any]:
    """Topic Jaccard under full local privacy, and under limited precision at the same epsilon."""
    corpus = complaints(data, documents, vocabulary, seed)
    reference = reference_topics(corpus, topics, iterations, seed)
    draw = np.random.default_rng(seed_of("local topics", seed))
    found = {"chance": {"jaccard": chance_jaccard(reference, draw)}}
    for name, table in private_tables(corpus, largest_counts(data, vocabulary), groups, seed).items():
        law = lda(thinned(table, most, draw), topics, iterations=iterations, seed=seed_of("local model", name, seed))
        found[name] = {"jaccard": float(matched_jaccard(reference, law).mean())}
    return {"arms": found}


def heat(data: Path, *, documents: int, vocabulary: int, groups: int, seed: int) -> dict[str, Any]:
    """Figure 1: counts 0 to 5 and more, words in order of frequency. Only the counts are kept, neither words nor texts."""
    corpus = complaints(data, documents, vocabulary, seed)
    order = np.argsort(-np.asarray(corpus.counts.sum(axis=0)).ravel(), kind="stable")
    words = order[np.linspace(0, len(order) - 1, SHOWN_WORDS).astype(int)]
    tables = {"clear": corpus.counts} | private_tables(corpus, largest_counts(data, vocabulary), groups, seed)
    shown = {name: heat_map(table, words=words, documents=SHOWN_DOCUMENTS).tolist() for name, table in tables.items()}
    return {"tables": shown}
