"""Topics of counts, and how much of them survives: LDA, LSA, and the measures of the paper.

    matched Jaccard   top words of two models' topics, paired so that the sum of similarities is largest (Hungarian algorithm)
    exclusivity       mean over a topic's top words of phi_kw / sum_k phi_kw (Bischof and Airoldi 2012)
    coherence         mean over pairs of top words of log((D(v, w) + 1) / D(v)), v the likelier one, D counted in documents of
                      the true text (Mimno et al. 2011, whose sum is divided by the number of pairs)
    LSA error         share of the true counts' norm that the leading directions of the private counts do not reproduce

A topic model is a matrix of word chances, one row per topic. tomotopy (LDA) and scikit-learn are imported late.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.core.params import install_hint, positive_integer

TOP = 20


def lda(
    counts: Any,
    topics: int,
    *,
    iterations: int = 300,
    alpha: float = 0.1,
    eta: float = 0.01,
    seed: int | None = None,
    words: Sequence[str] | None = None,
    without: Iterable[str] = (),
) -> np.ndarray:
    """Word chances per topic (topics x words), by collapsed Gibbs sampling on one thread (tomotopy).

    `without`: words that no topic is made of (the, of, and ...); `words` then names the columns.
    """
    tomotopy = _tomotopy()
    rows = without_words(sparse.csr_array(counts), words, without)
    generator = {} if seed is None else {"seed": seed}
    model = tomotopy.LDAModel(k=positive_integer("topics", topics), alpha=alpha, eta=eta, **generator)
    names = np.array([str(j) for j in range(rows.shape[1])], dtype=object)
    for i in range(rows.shape[0]):
        cells = slice(rows.indptr[i], rows.indptr[i + 1])
        if cells.stop > cells.start:
            model.add_doc(np.repeat(names[rows.indices[cells]], rows.data[cells].astype(np.int64)).tolist())
    model.train(iterations, workers=1)
    columns = np.array([int(word) for word in model.used_vocabs])
    found = np.full((topics, rows.shape[1]), 0.0)
    for k in range(topics):
        found[k, columns] = model.get_topic_word_dist(k)
    return found


def without_words(counts: Any, words: Sequence[str] | None, without: Iterable[str]) -> sparse.csr_array:
    """The counts with the columns of these words set to 0.

    >>> without_words(np.array([[3, 1], [2, 0]]), ["the", "loan"], ["the", "of"]).toarray().tolist()
    [[0, 1], [0, 0]]
    """
    rows, left_out = sparse.csr_array(counts), set(without)
    if not left_out:
        return rows
    if words is None or len(words) != rows.shape[1]:
        raise BadInput("to leave words out, the words of all columns must be given", possible="words=[...]")
    kept = np.array([word not in left_out for word in words], dtype=rows.dtype)
    shown = sparse.csr_array(rows * kept)
    shown.eliminate_zeros()
    return shown


def topic_words(topics: np.ndarray, words: Sequence[str], count: int = 10) -> list[list[str]]:
    """The likeliest words of each topic, the likeliest first.

    >>> topic_words(np.array([[0.1, 0.9], [0.8, 0.2]]), ["loan", "card"], count=1)
    [['card'], ['loan']]
    """
    return [[words[column] for column in row] for row in top_words(topics, count)]


def _tomotopy() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # its compiled part warns on import, which would count as an error in strict runs
        try:
            import tomotopy
        except ImportError:
            raise BadInput("LDA needs tomotopy", possible=install_hint("topics")) from None
    return tomotopy


def top_words(topics: np.ndarray, count: int = TOP) -> np.ndarray:
    """Columns of the likeliest words of each topic, the likeliest first."""
    return np.argsort(-topics, axis=1, kind="stable")[:, :count]


def matched_jaccard(first: np.ndarray, second: np.ndarray, count: int = TOP) -> np.ndarray:
    """Jaccard similarity of the top words of best-matching topics, the largest first.

    >>> a = np.array([[4, 3, 0, 0], [0, 0, 4, 3]])
    >>> matched_jaccard(a, a[::-1], count=2).tolist()
    [1.0, 1.0]
    """
    from scipy.optimize import linear_sum_assignment

    a, b = ([set(row) for row in top_words(t, count).tolist()] for t in (first, second))
    table = np.array([[len(x & y) / len(x | y) for y in b] for x in a])
    rows, columns = linear_sum_assignment(-table)
    return np.sort(table[rows, columns])[::-1]


def exclusivity(topics: np.ndarray, count: int = TOP) -> float:
    """How much the top words of a topic belong to it alone, mean over topics.

    >>> exclusivity(np.array([[1.0, 0.0], [0.0, 1.0]]), count=1)
    1.0
    """
    shares = topics / np.maximum(topics.sum(axis=0), 1e-300)
    top = top_words(topics, count)
    return float(np.mean([shares[k, words].mean() for k, words in enumerate(top)]))


def coherence(topics: np.ndarray, counts: Any, count: int = TOP) -> float:
    """How often the top words of a topic meet in documents, mean over pairs and topics.

    >>> round(coherence(np.array([[2.0, 1.0, 0.0]]), np.array([[1, 1, 0], [1, 0, 0]]), count=2), 4)   # log((1 + 1) / 2)
    0.0
    """
    there = sparse.csc_array(sparse.csr_array(counts) > 0).astype(np.int64)
    found = []
    for words in top_words(topics, count):
        together = (there[:, words].T @ there[:, words]).toarray()
        alone = np.maximum(np.diag(together), 1)
        m, l = np.tril_indices(len(words), -1)
        found.append(np.log((together[m, l] + 1) / alone[l]).mean())
    return float(np.mean(found))


def lsa_directions(counts: Any, dimensions: int) -> np.ndarray:
    """The leading right singular vectors (dimensions x words)."""
    from scipy.sparse.linalg import svds

    table = sparse.csr_array(counts).astype(np.float64) if sparse.issparse(counts) else np.asarray(counts, np.float64)
    dimensions = min(dimensions, min(table.shape) - 1)
    return svds(table, k=positive_integer("dimensions", dimensions), return_singular_vectors="vh")[2]


def lsa_error(private: Any, original: Any, dimensions: int = 50) -> float:
    """Share of the original counts' norm outside the leading directions of the private counts.

    >>> x = np.diag([5.0, 4.0, 3.0, 0.0])
    >>> round(lsa_error(x, x, dimensions=2), 4)   # 3 / sqrt(50)
    0.4243
    """
    directions = lsa_directions(private, dimensions)
    true = sparse.csr_array(original).astype(np.float64)
    norm = float((true.data**2).sum())
    reached = float(((true @ directions.T) ** 2).sum())
    return float(np.sqrt(max(0.0, norm - reached) / norm))


def category_scores(private: Any, labels: Any, dimensions: int = 50, folds: int = 5) -> dict[str, float]:
    """Accuracy, precision, recall and F1 (macro) of a linear classifier on the LSA of private counts, over folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows, labels = sparse.csr_array(private), np.asarray(labels)
    guesses = np.empty_like(labels)
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(len(labels)), labels):
        directions = lsa_directions(rows[train], dimensions)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        model.fit(rows[train] @ directions.T, labels[train])
        guesses[test] = model.predict(rows[test] @ directions.T)
    precision, recall, f1, _ = precision_recall_fscore_support(labels, guesses, average="macro", zero_division=0)
    accuracy = float(accuracy_score(labels, guesses))
    return {"accuracy": accuracy, "precision": float(precision), "recall": float(recall), "f1": float(f1)}


def statistics(counts: Any) -> dict[str, float]:
    """Share of cells above 0, mean and median document length.

    >>> statistics(np.array([[2, 0], [1, 1]]))
    {'filled': 0.75, 'mean_length': 2.0, 'median_length': 2.0}
    """
    rows = sparse.csr_array(counts)
    lengths = np.asarray(rows.sum(axis=1)).ravel()
    filled = np.count_nonzero(rows.data) / max(1, rows.shape[0] * rows.shape[1])
    return {"filled": float(filled), "mean_length": float(lengths.mean()), "median_length": float(np.median(lengths))}


def heat_map(counts: Any, *, words: np.ndarray, documents: int = 50, most: int = 5) -> np.ndarray:
    """Figure 1 of the paper: counts 0 .. `most` or more of chosen words (rows) in the first documents (columns).

    >>> heat_map(np.array([[9, 0], [1, 2]]), words=np.array([1, 0])).tolist()
    [[0, 2], [5, 1]]
    """
    return np.clip(sparse.csr_array(counts)[:documents][:, words].toarray().T, 0, most).astype(np.uint8)
