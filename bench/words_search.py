"""Exact search beside faiss: `python bench/words_search.py [--quick]`.

Ours and the peer take turns in one process, so that a busy machine slows both; times are medians. Noise is what the
mechanisms add: each bit flipped with probability 1 / (1 + e^eps), or a uniform direction times a Gamma(d, 1/eps) radius.
With the evaluation data (`TEXTVEIL_DATA`, or `../shared/data` beside the project) real vectors are used, else Gaussian.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textveil.words.search import EuclidSearch, HammingSearch

BITS = 256
BIT_EPSILONS = (0.3, 0.5, 0.8)
GLOVE = ("glove-100d/glove.6B.100d.100k.f16.npz", 50_000, 100, (5.0, 10.0, 15.0))
WORD2VEC = ("word2vec-news-300d/word2vec-googlenews-300d.26k.f16.npz", 26_423, 300, (50.0, 80.0, 100.0))


@dataclass(frozen=True)
class Row:
    """One line of the table: queries a second of ours and of the peer."""

    what: str
    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        return self.ours / self.peer


def vectors(file: str, count: int, columns: int, rng: np.random.Generator) -> tuple[np.ndarray, str]:
    """Real vectors where the data is there, otherwise Gaussian ones, and what they are."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("TEXTVEIL_DATA", default)) / file
    if path.exists():
        return np.load(path)["vectors"][:count].astype(np.float32), path.parent.name
    return rng.standard_normal((count, columns), dtype=np.float32), "random"


def codes_of(matrix: np.ndarray, bits: int, rng: np.random.Generator) -> np.ndarray:
    """Signs of random projections, 64 to a word."""
    signs = (matrix - matrix.mean(axis=0)) @ rng.standard_normal((matrix.shape[1], bits), dtype=np.float32) > 0
    return np.packbits(signs, axis=1, bitorder="little").view(np.uint64)


def flipped(codes: np.ndarray, epsilon: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random words' codes after randomized response."""
    flips = rng.random((count, 64 * codes.shape[1])) < 1 / (1 + np.exp(epsilon))
    return codes[rng.integers(0, len(codes), count)] ^ np.packbits(flips, axis=1, bitorder="little").view(np.uint64)


def noised(matrix: np.ndarray, epsilon: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random words' vectors after multivariate Laplace noise."""
    columns = matrix.shape[1]
    direction = rng.standard_normal((count, columns))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = direction * rng.gamma(columns, 1 / epsilon, (count, 1))
    return (matrix[rng.integers(0, len(matrix), count)] + noise).astype(np.float32)


def in_turns(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each, one after the other, after one untimed call."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def hamming_rows(batch: int, rounds: int, threads: int, rng: np.random.Generator) -> list[Row]:
    """BRR's search against faiss IndexBinaryFlat."""
    import faiss

    matrix, name = vectors(*GLOVE[:3], rng)
    codes = codes_of(matrix, BITS, rng)
    search = HammingSearch(codes, BITS, threads=threads)
    index = faiss.IndexBinaryFlat(BITS)
    index.add(codes.view(np.uint8))
    faiss.omp_set_num_threads(threads)
    rows = []
    for epsilon in BIT_EPSILONS:
        queries = flipped(codes, epsilon, batch, rng)
        ties = rng.integers(0, 2**64, batch, dtype=np.uint64)
        least = index.search(queries.view(np.uint8), 1)[0][:, 0]
        assert np.array_equal(search.distances_min(queries), least), "a distance differs from faiss"
        took = in_turns(
            {
                "ours": lambda q=queries, t=ties: search.nearest(q, t),
                "peer": lambda q=queries: index.search(q.view(np.uint8), 1),
            },
            rounds,
        )
        what = f"{name} {len(codes):,} x {BITS} bits, eps {epsilon}, {threads} thread(s)"
        rows.append(Row(what, batch / took["ours"], batch / took["peer"]))
    return rows


def euclid_rows(
    which: tuple, batch: int, rounds: int, threads: int, rng: np.random.Generator
) -> tuple[list[Row], list[float]]:
    """Laplace's search against faiss IndexFlatL2, and the time of two neighbours over that of one."""
    import faiss

    file, count, columns, epsilons = which
    matrix, name = vectors(file, count, columns, rng)
    search = EuclidSearch(matrix, threads=threads)
    index = faiss.IndexFlatL2(columns)
    index.add(matrix)
    faiss.omp_set_num_threads(threads)
    rows, second = [], []
    for epsilon in epsilons:
        queries = noised(matrix, epsilon, batch, rng)
        took = in_turns(
            {
                "ours": lambda q=queries: search.nearest(q),
                "peer": lambda q=queries: index.search(q, 1),
            },
            rounds,
        )
        both = in_turns(
            {"one": lambda q=queries: search.nearest(q), "two": lambda q=queries: search.k_nearest(q, 2)}, 3 * rounds
        )
        what = f"{name} {len(matrix):,} x {columns}, eps {epsilon:g}, {threads} thread(s)"
        rows.append(Row(what, batch / took["ours"], batch / took["peer"]))
        second.append(both["two"] / both["one"])
    return rows, second


def show(rows: list[Row]) -> None:
    for row in rows:
        print(f"{row.what:58}  ours {row.ours:10,.0f}/s  faiss {row.peer:10,.0f}/s  ratio {row.ratio:6.2f}", flush=True)


def least(rows: list[Row]) -> float:
    """The worst ratio over the noise levels."""
    return round(min(row.ratio for row in rows), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--batch", type=int, default=2000)
    options = parser.parse_args()
    rounds = 3 if options.quick else 15
    rng = np.random.default_rng()
    ratios: dict[str, float] = {}
    for threads in (1, 2):
        rows = hamming_rows(2 * options.batch, rounds, threads, rng)
        show(rows)
        ratios[f"brr_over_faiss_binary_{threads}t"] = least(rows)
    seconds: list[float] = []
    for name, which in (("laplace100", GLOVE), ("laplace300", WORD2VEC)):
        for threads in (1, 2):
            rows, second = euclid_rows(which, options.batch, rounds, threads, rng)
            show(rows)
            seconds += second
            ratios[f"{name}_over_faiss_flat" + ("" if threads == 1 else "_2t")] = least(rows)
    ratios["vickrey_time_over_laplace"] = round(max(seconds), 3)
    print(json.dumps({"room": "words.search", "ratios": ratios}))


if __name__ == "__main__":
    main()
