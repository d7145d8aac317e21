"""Nearest documents: of the ten that are nearest to a document in the original, how many are found in the release.

A clear document is the query, the other documents are the collection; both sides weigh words by TF-IDF and compare by cosine.
The original finds its own ten, so its score is 1; by chance one finds 10 of n - 1.
"""

from __future__ import annotations

import numpy as np

from textveil.core import BadInput
from textveil.core.utility import Utility
from textveil.recipes.use.bags import Bags
from textveil.recipes.use.labels import spread_rows
from textveil.recipes.use.linear import TfIdf
from textveil.words.tuning import mean_of

NEAREST, LEAST, QUERIES, MOST = 10, 30, 500, 20_000


def retrieval(released: Bags, original: Bags) -> Utility:
    """The share of each document's nearest ones that the release finds too."""
    if len(original) < LEAST:
        raise BadInput(f"nearest documents need {LEAST} records or more")
    collection = spread_rows(len(original), MOST)
    queries = spread_rows(len(collection), QUERIES)
    clear, veiled = original.take(collection), released.take(collection)
    truth, found = (nearest(side, clear, queries) for side in (clear, veiled))
    shared = np.array([len(set(a) & set(b)) / NEAREST for a, b in zip(truth.tolist(), found.tolist(), strict=True)])
    estimate = mean_of(shared)
    return Utility(
        f"find the {NEAREST} nearest documents",
        "share found",
        estimate.value,
        1.0,
        NEAREST / (len(collection) - 1),
        (max(0.0, estimate.low), min(1.0, estimate.high)),
        sizes={"documents": len(collection), "queries": len(queries)},
        how="TF-IDF and cosine",
    )


def nearest(collection: Bags, asked: Bags, queries: np.ndarray) -> np.ndarray:
    """For each query (a row of `asked`) the rows of its nearest documents in the collection, itself left out."""
    features = TfIdf().fit(collection)
    table, questions = features(collection), features(asked.take(queries))
    found = np.empty((len(queries), NEAREST), np.int64)
    for start in range(0, len(queries), 64):
        part = slice(start, start + 64)
        alike = (questions[part] @ table.T).toarray()
        alike[np.arange(len(alike)), queries[part]] = -1
        found[part] = np.argsort(-alike, axis=1, kind="stable")[:, :NEAREST]
    return found
