"""Paper 02: what is computed beyond the topic measures of `textveil.counts.topics`.

Long documents are thinned for the sampler; the floor of the topic Jaccard; latent semantic analysis over five folds, with the
reconstruction error of held-out clear text and the classification of the product category.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from textveil.counts.topics import matched_jaccard

FOLDS = 5


def thinned(counts: Any, most: int, draw: np.random.Generator) -> sparse.csr_array:
    """At most so many words of each document, drawn without replacement: what a sampler can afford of noise.

    >>> thinned(np.array([[5, 5], [1, 0]]), 4, np.random.default_rng(1)).sum(axis=1).tolist()
    [4, 1]
    """
    rows = sparse.csr_array(counts)
    long = np.flatnonzero(rows.sum(axis=1) > most)
    if not len(long):
        return rows
    kept = [rows[[i]] for i in range(rows.shape[0])]
    for i in long:
        some = draw.multivariate_hypergeometric(kept[i].toarray()[0], most, method="marginals")
        kept[i] = sparse.csr_array(some[None, :])
    return sparse.csr_array(sparse.vstack(kept, format="csr"))


def chance_jaccard(reference: np.ndarray, draw: np.random.Generator, times: int = 20) -> float:
    """The mean after pairing with topics whose top words are drawn uniformly: the floor of the measure, well above 0."""
    return float(np.mean([matched_jaccard(reference, draw.random(reference.shape)).mean() for _ in range(times)]))


def lsa(private: Any, clear: sparse.csr_array, labels: np.ndarray, *, rank: int, seed: int) -> dict[str, float]:
    """Five folds. The decomposition and the classifier see private counts of four folds.

    error: share of the squared length of the clear held-out documents that the decomposition does not hold. accuracy ...:
    of the category of held-out documents from their private counts; precision, recall and F1 are weighted by category, and
    `macro_f1` is not.
    """
    from sklearn.model_selection import StratifiedKFold

    private = sparse.csr_array(private).astype(np.float64)
    clear = clear.astype(np.float64)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    scores = [
        _fold(private[train], private[test], clear[test], labels[train], labels[test], rank, seed)
        for train, test in folds.split(np.zeros(len(labels)), labels)
    ]
    return {name: float(np.mean([s[name] for s in scores])) for name in scores[0]}


def _fold(
    train: sparse.csr_array,
    test: sparse.csr_array,
    clear: sparse.csr_array,
    train_labels: np.ndarray,
    test_labels: np.ndarray,
    rank: int,
    seed: int,
) -> dict[str, float]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import precision_recall_fscore_support
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    svd = TruncatedSVD(rank, random_state=seed).fit(train)
    held = np.square(clear @ svd.components_.T).sum()
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
    guesses = classifier.fit(svd.transform(train), train_labels).predict(svd.transform(test))
    quality = {"accuracy": float((guesses == test_labels).mean())}
    for average in ("weighted", "macro"):
        figures = precision_recall_fscore_support(test_labels, guesses, average=average, zero_division=0)
        prefix = "" if average == "weighted" else "macro_"
        quality |= {prefix + name: float(v) for name, v in zip(("precision", "recall", "f1"), figures[:3], strict=True)}
    return {"error": float(1 - held / np.square(clear.data).sum()), **quality}
