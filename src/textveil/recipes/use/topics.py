"""Topics: do those of the release have the words of those of the original?

Topics are fitted by LDA to the released and to the original counts, and paired so that their top words agree most; the
figure is the mean Jaccard similarity of the ten top words of paired topics. Beside it stand two fits of the original (what
luck alone changes) and the original with its words dealt out to the documents at random (chance: no topics, the same
frequencies). Frequent words of no topic (`STOP_RANKS` of the public vocabulary) are left out first.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.core.utility import Utility
from textveil.counts.topics import lda, matched_jaccard
from textveil.noise import seeded
from textveil.recipes.use.bags import Bags
from textveil.recipes.use.labels import spread_rows
from textveil.text.vectors import load
from textveil.words.tuning import mean_of

TOPICS, TOP, ITERATIONS = 10, 10, 200
MOST_DOCUMENTS, MOST_WORDS, STOP_RANKS, LEAST = 2_000, 5_000, 150, 300
_SEED = 0  # of the fits and of the dealing: the same figures each time


def topic_agreement(released: Bags, original: Bags) -> Utility:
    """How much of the topics survives."""
    rows = spread_rows(len(original), MOST_DOCUMENTS)
    if len(rows) < LEAST:
        raise BadInput(f"topics need {LEAST} records or more")
    columns = _columns(original.take(rows))
    if len(columns) < TOPICS * TOP:
        raise BadInput(f"topics need {TOPICS * TOP} different words or more, frequent ones not counted")
    clear, veiled = original.counts[rows][:, columns], released.counts[rows][:, columns]
    fits = {"own": _topics(clear, 1), "again": _topics(clear, 2), "veiled": _topics(veiled, 1)}
    dealt = _topics(dealt_out(clear), 1)
    alike = {name: mean_of(matched_jaccard(fits["own"], fit, TOP)) for name, fit in fits.items()}
    value = alike["veiled"]
    return Utility(
        f"{TOPICS} topics",
        "agreement of top words",
        value.value,
        alike["again"].value,
        float(matched_jaccard(fits["own"], dealt, TOP).mean()),
        (max(0.0, value.low), min(1.0, value.high)),
        sizes={"documents": len(rows), "words": len(columns)},
        how="LDA, mean Jaccard similarity of ten top words",
        notes=("the figure of the original compares two fits of it", "the interval is over topics"),
    )


def _columns(bags: Bags) -> np.ndarray:
    """The most frequent words that are neither among the commonest of the language nor single letters and digits."""
    common = set(list(load("default").words)[:STOP_RANKS])
    total = np.asarray(bags.counts.sum(axis=0)).ravel()
    good = [len(word) > 2 and word.isalpha() and word not in common for word in bags.words]
    useful = np.where(good, total, 0)
    order = np.argsort(-useful, kind="stable")[:MOST_WORDS]
    return order[useful[order] > 0]


def _topics(counts: sparse.csr_array, seed: int) -> np.ndarray:
    return lda(counts, TOPICS, iterations=ITERATIONS, seed=seed)


def dealt_out(counts: sparse.csr_array) -> sparse.csr_array:
    """The same words and lengths, each word moved to a random document.

    >>> table = sparse.csr_array(np.array([[2, 0], [0, 1]]))
    >>> dealt_out(table).sum(axis=0).tolist(), dealt_out(table).sum(axis=1).tolist()
    ([2, 1], [2, 1])
    """
    whole = sparse.coo_array(counts)
    repeats = np.maximum(whole.data, 0).astype(np.int64)
    words, documents = np.repeat(whole.col, repeats), np.repeat(whole.row, repeats)
    words = words[seeded(_SEED).permutation(len(words))]
    return sparse.csr_array((np.ones(len(words), np.int64), (documents, words)), shape=counts.shape)
