"""Linear classifiers of bags of words: two ways to see a text, one way to learn.

    TF-IDF            a weight for each word: count times ln((1 + n) / (1 + texts with it)) + 1, rows of length 1
    word vectors      the mean of the public vectors of a text's words, frequent words weighing less: a / (a + p(w)), as
                      in Arora et al. 2017, with the public law p of the vectors

The learner is logistic regression with an L2 penalty: it minimises mean loss + |W|^2 / (2 C n) over the weights W and
free intercepts, by L-BFGS. Two classes share one column of weights, more have one each (softmax). Objective, tolerance and
weights of words are those of scikit-learn's LogisticRegression and TfidfVectorizer, which the tests hold it against; it is
written here because the light core has scipy and not scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from textveil.recipes.use.bags import Bags
from textveil.text.vectors import Vectors

STEPS, TOLERANCE = 100, 1e-4
RARE = 1e-3  # words more frequent than this weigh less in the mean of vectors

Features = Callable[[Bags], Any]  # a matrix with a row per text


class Seeing(Protocol):
    """A way to turn bags into features, learnt from the training bags alone."""

    @property
    def how(self) -> str: ...

    def fit(self, train: Bags) -> Features: ...


@dataclass(frozen=True)
class TfIdf:
    """Words weighed by how rare they are in the training texts; words that these do not have count for nothing."""

    how: str = "TF-IDF and logistic regression"

    def fit(self, train: Bags) -> Features:
        occurs = np.bincount(train.counts.indices, minlength=len(train.words))
        used = np.flatnonzero(occurs)
        weights = np.log((1 + len(train)) / (1 + occurs[used])) + 1

        def features(bags: Bags) -> sparse.csr_array:
            table = sparse.csr_array(bags.counts[:, used] * weights[None, :])
            norms = np.sqrt(np.asarray((table**2).sum(axis=1)).ravel())
            return sparse.csr_array(table * (1 / np.maximum(norms, 1e-12))[:, None])

        return features


@dataclass(frozen=True)
class VectorMean:
    """The weighted mean of public word vectors, each dimension scaled by its spread over the training texts."""

    vectors: Vectors
    how: str = "mean of public word vectors and logistic regression"

    def fit(self, train: Bags) -> Features:
        rows = [self.vectors.index(word) for word in train.words]
        known = np.array([row is not None for row in rows], bool)
        found = np.array([row for row in rows if row is not None], np.int64)
        weights = RARE / (RARE + np.asarray(self.vectors.prior)[found])
        table = self.vectors.matrix[found].astype(np.float64) * weights[:, None]

        def means(bags: Bags) -> np.ndarray:
            counts = bags.counts[:, known]
            return (counts @ table) / np.maximum(counts @ weights, 1e-12)[:, None]

        own = means(train)
        middle, spread = own.mean(axis=0), own.std(axis=0)
        return lambda bags: (means(bags) - middle) / np.maximum(spread, 1e-9)


class Linear:
    """Logistic regression. `fit` takes features and class numbers 0 .. classes - 1; `predict` gives class numbers."""

    def __init__(self, c: float = 1.0):
        self.c = c

    def fit(self, features: Any, labels: np.ndarray, classes: int) -> Linear:
        n, width = features.shape
        columns = 1 if classes == 2 else classes
        wanted = np.zeros((n, classes))
        wanted[np.arange(n), labels] = 1
        back = features.T.tocsr() if sparse.issparse(features) else features.T

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            weights, free = flat[: width * columns].reshape(width, columns), flat[width * columns :]
            logs = _log_chances(features @ weights + free)
            wrong = (np.exp(logs) - wanted)[:, -columns:] / n
            loss = -float((logs * wanted).sum()) / n + float((weights**2).sum()) / (2 * self.c * n)
            gradient = back @ wrong + weights / (self.c * n)
            return loss, np.concatenate([gradient.ravel(), wrong.sum(axis=0)])

        start = np.zeros((width + 1) * columns)
        options = {"maxiter": STEPS, "gtol": TOLERANCE, "ftol": 64 * np.finfo(float).eps}
        flat = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
        self.weights, self.free = flat[: width * columns].reshape(width, columns), flat[width * columns :]
        return self

    def predict(self, features: Any) -> np.ndarray:
        return _log_chances(features @ self.weights + self.free).argmax(axis=1)


def _log_chances(scores: np.ndarray) -> np.ndarray:
    """Logs of the chances of all classes; of two classes the first has the score 0."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def predictions(seeing: Seeing, train: Bags, labels: np.ndarray, classes: int, asked: Bags) -> np.ndarray:
    """What a classifier learnt from the training bags says of others."""
    features = seeing.fit(train)
    return Linear().fit(features(train), labels, classes).predict(features(asked))
