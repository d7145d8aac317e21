"""Paper 02: its two collections, as counts. A corpus drawn from a topic model, and consumer complaints.

The paper prints neither the number of documents, nor their lengths, nor the number of topics; what is taken here stands in
the notes of the study. Everything is drawn anew in every start: the corpus (or sample of complaints), the noise, the models.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse

from textveil.noise.source import seeded
from textveil.text import tokens
from textveil.text.vectors import Vectors, from_arrays

COMPLAINTS = "cfpb-complaints"
SYNTHETIC_WORDS, SYNTHETIC_TOPICS, SYNTHETIC_LENGTH = 100, 10, 100
DIRICHLET = 0.1  # of documents over topics and of topics over words
TOO_COMMON = 0.5  # words of more documents than this share are left out of the vocabulary
SHORTEST = 10  # words of the vocabulary that a complaint must have


@dataclass(frozen=True)
class Corpus:
    """Counts with the names of their columns; labels and the law behind the corpus, where there are any."""

    counts: sparse.csr_array
    words: list[str]
    labels: np.ndarray | None = None
    truth: np.ndarray | None = None  # topics x words
    vectors: Vectors | None = None  # None: the bundled ones


def seed_of(*names: object) -> int:
    """A seed for each use, so that no two draws of a start share one.

    >>> seed_of(0, "noise") == seed_of(0, "noise") != seed_of(1, "noise")
    True
    """
    text = json.dumps([str(name) for name in names])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big") >> 1


@lru_cache(maxsize=4)
def synthetic(documents: int, seed: int) -> Corpus:
    """Latent Dirichlet allocation run forwards: 10 topics over 100 words, documents of about 100 words.

    The vectors of the words, which only CLUSTER and DISPERSE use, are made of the true topics: the best case for them.

    >>> synthetic(50, 0).counts.shape
    (50, 100)
    """
    draw = np.random.default_rng(seed_of("synthetic corpus", documents, seed))
    topics = draw.dirichlet(np.full(SYNTHETIC_WORDS, DIRICHLET), SYNTHETIC_TOPICS)
    shares = draw.dirichlet(np.full(SYNTHETIC_TOPICS, DIRICHLET), documents)
    lengths = np.maximum(1, draw.poisson(SYNTHETIC_LENGTH, documents))
    counts = draw.multinomial(lengths, shares @ topics)
    words = [f"w{i:02d}" for i in range(SYNTHETIC_WORDS)]
    points = np.sqrt(topics.T / np.maximum(topics.sum(axis=0)[:, None], 1e-300))
    vectors = from_arrays(words, points.astype(np.float32), name="true topics")
    return Corpus(sparse.csr_array(counts), words, truth=topics, vectors=vectors)


@lru_cache(maxsize=4)
def complaints(data: Path, documents: int, vocabulary: int, seed: int) -> Corpus:
    """A sample of the complaints, counted over the vocabulary of all of them (which is public here, as in the paper)."""
    bags, labels = _bags(data)
    words = _vocabulary(data)[:vocabulary]
    columns = {word: j for j, word in enumerate(words)}
    long_enough = [i for i, bag in enumerate(bags) if sum(n for w, n in bag.items() if w in columns) >= SHORTEST]
    order = seeded(seed_of("sample of complaints", seed)).permutation(len(long_enough))[:documents]
    chosen = [long_enough[i] for i in order]
    cells = [(r, columns[w], n) for r, i in enumerate(chosen) for w, n in bags[i].items() if w in columns]
    rows, places, values = (np.array(part) for part in zip(*cells, strict=True))
    counts = sparse.csr_array((values, (rows, places)), shape=(len(chosen), len(words)))
    return Corpus(counts, words, labels=labels[chosen])


def largest_counts(data: Path, vocabulary: int) -> tuple[int, int]:
    """Over all complaints: the largest count of one word, and of all words of a document. Public caps of the baselines."""
    bags, _ = _bags(data)
    words = set(_vocabulary(data)[:vocabulary])
    kept = [[n for w, n in bag.items() if w in words] for bag in bags]
    return max(max(counts, default=0) for counts in kept), max(sum(counts) for counts in kept)


@lru_cache(maxsize=1)
def _bags(data: Path) -> tuple[list[Counter[str]], np.ndarray]:
    with gzip.open(data / COMPLAINTS / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    bags = [Counter(w.lower() for w in tokens.words(row["text"]) if w.isalpha()) for row in rows]
    return bags, np.array([row["category"] for row in rows])


@lru_cache(maxsize=1)
def _vocabulary(data: Path) -> list[str]:
    """Words by the number of complaints that have them, without those that most have."""
    bags, _ = _bags(data)
    spread = Counter(word for bag in bags for word in bag)
    return [w for w, n in sorted(spread.items(), key=lambda item: (-item[1], item[0])) if n <= TOO_COMMON * len(bags)]
