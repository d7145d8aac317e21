"""The searches against slow oracles over everything: `python bench/words_oracle.py [--queries 100000]`.

Codes: the oracle finds all words at the least distance; ours must be one of them, and among ties its place must be uniform
(chi-square over queries with two minimisers, false-alarm rate 1e-6). Floats: ours must have the least distance in float64.
Ends with a JSON line; exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from scipy.stats import chi2
from words_search import BIT_EPSILONS, BITS, GLOVE, WORD2VEC, codes_of, flipped, noised, vectors

from textveil.words.search import EuclidSearch, HammingSearch

AT_ONCE = 200


def check_codes(queries: int, rng: np.random.Generator) -> dict[str, float]:
    matrix, _ = vectors(*GLOVE[:3], rng)
    codes = codes_of(matrix, BITS, rng)
    search = HammingSearch(codes, BITS)
    wrong, ties, places = 0, 0, np.zeros(2, int)
    for epsilon in BIT_EPSILONS:
        count = queries // len(BIT_EPSILONS) + 1
        asked = flipped(codes, epsilon, count, rng)
        answers = search.nearest(asked, rng.integers(0, 2**64, count, dtype=np.uint64))
        for start in range(0, count, AT_ONCE):
            some, got = asked[start : start + AT_ONCE], answers[start : start + AT_ONCE]
            distance = np.zeros((len(some), len(codes)), np.uint16)
            for column in range(codes.shape[1]):
                distance += np.bitwise_count(some[:, column, None] ^ codes[None, :, column])
            least = distance.min(axis=1)
            wrong += int((distance[np.arange(len(some)), got] != least).sum())
            for row in np.flatnonzero((distance == least[:, None]).sum(axis=1) == 2):
                ties += 1
                places[int(np.flatnonzero(distance[row] == least[row])[1] == got[row])] += 1
    uneven = float(((places - ties / 2) ** 2 / max(1, ties / 2)).sum())
    return {"queries": queries, "wrong": wrong, "two_minimisers": ties, "uniform_p": float(chi2.sf(uneven, 1))}


def check_floats(source: tuple, queries: int, rng: np.random.Generator) -> dict[str, float]:
    matrix, _ = vectors(*source[:3], rng)
    search, exact = EuclidSearch(matrix), matrix.astype(np.float64)
    norms, wrong = (exact**2).sum(axis=1), 0
    for epsilon in source[3]:
        count = queries // len(source[3]) + 1
        asked = noised(matrix, epsilon, count, rng)
        answers = search.nearest(asked)
        for start in range(0, count, 10 * AT_ONCE):
            some, got = asked[start : start + 10 * AT_ONCE].astype(np.float64), answers[start : start + 10 * AT_ONCE]
            best = (norms - 2 * some @ exact.T).argmin(axis=1)
            apart = np.flatnonzero(best != got)  # settle ties and rounding of the product by exact differences
            own, other = ((some[apart] - exact[w[apart]]) ** 2 for w in (got, best))
            wrong += int((own.sum(axis=1) > other.sum(axis=1)).sum())
    return {"queries": queries, "wrong": wrong}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    asked = parser.parse_args().queries
    rng = np.random.default_rng(5)
    found = {
        "codes": check_codes(asked, rng),
        "glove": check_floats(GLOVE, asked, rng),
        "word2vec": check_floats(WORD2VEC, asked, rng),
    }
    print(json.dumps(found))
    sys.exit(any(part["wrong"] for part in found.values()) or found["codes"]["uniform_p"] < 1e-6)


if __name__ == "__main__":
    main()
