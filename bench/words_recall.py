"""What approximate indexes find of noised vectors: `python bench/words_recall.py [--quick]`.

HNSW (hnswlib, else faiss) and Annoy beside our exact scan, on one core: the share of queries whose true nearest word they
return, and queries a second. Each at two settings, the second searching more. Building is not counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import words_search as search

from textveil.words.search import EuclidSearch

Find = Callable[[np.ndarray], np.ndarray]


class Recall(NamedTuple):
    what: str
    recall: float
    rate: float


def recalls(which: tuple, batch: int, rng: np.random.Generator) -> list[Recall]:
    """Recall and rate of each index at each noise level; ours is exact by construction and comes first."""
    file, count, columns, epsilons = which
    matrix, name = search.vectors(file, count, columns, rng)
    exact = EuclidSearch(matrix)
    exact.nearest(matrix[:8])  # compiles
    finders = {"ours (exact)": exact.nearest, **dict(graphs(matrix)), **dict(forests(matrix))}
    found = []
    for epsilon in epsilons:
        queries = search.noised(matrix, epsilon, batch, rng)
        truth = exact.nearest(queries)
        for peer, find in finders.items():
            start = time.perf_counter()
            answers = find(queries)
            rate = batch / (time.perf_counter() - start)
            found.append(Recall(f"{peer} on {name}, eps {epsilon:g}", float(np.mean(answers == truth)), rate))
    return found


def graphs(matrix: np.ndarray) -> Iterator[tuple[str, Find]]:
    """HNSW with 16 links a word."""
    if importlib.util.find_spec("hnswlib"):
        import hnswlib

        index = hnswlib.Index("l2", matrix.shape[1])
        index.init_index(len(matrix), ef_construction=100, M=16)
        index.set_num_threads(1)
        index.add_items(matrix)

        def find(queries: np.ndarray, ef: int) -> np.ndarray:
            index.set_ef(ef)
            return index.knn_query(queries, 1)[0][:, 0]
    else:
        import faiss

        graph = faiss.IndexHNSWFlat(matrix.shape[1], 16)
        graph.add(matrix)

        def find(queries: np.ndarray, ef: int) -> np.ndarray:
            graph.hnsw.efSearch = ef
            return graph.search(queries, 1)[1][:, 0]

    for ef in (64, 512):
        yield f"HNSW (M 16, ef {ef})", lambda queries, ef=ef: find(queries, ef)


def forests(matrix: np.ndarray) -> Iterator[tuple[str, Find]]:
    """Annoy with 10 trees."""
    if not importlib.util.find_spec("annoy"):
        return
    from annoy import AnnoyIndex

    trees = AnnoyIndex(matrix.shape[1], "euclidean")
    for i, row in enumerate(matrix):
        trees.add_item(i, row)
    trees.build(10)
    for nodes in (-1, 5000):  # -1: Annoy's default, here 10
        label = "default" if nodes < 0 else f"{nodes:,} nodes"
        yield (
            f"Annoy (10 trees, {label})",
            lambda queries, nodes=nodes: np.array([trees.get_nns_by_vector(q, 1, nodes)[0] for q in queries]),
        )


def show(rows: list[Recall]) -> None:
    for row in rows:
        print(f"{row.what:62}  recall {row.recall:.3f}  {row.rate:10,.0f}/s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="GloVe alone")
    options = parser.parse_args()
    rng = np.random.default_rng()
    for which in (search.GLOVE,) if options.quick else (search.GLOVE, search.WORD2VEC):
        show(recalls(which, 500 if options.quick else 1000, rng))


if __name__ == "__main__":
    main()
