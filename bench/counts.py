"""Count noise beside OpenDP and numpy: `python bench/counts.py [--quick]`.

All draw two-sided geometric noise of scale N / epsilon = 20 for a table of documents x words, in one process. OpenDP is timed
on 100 rows (it is exact and draws about 90,000 a second), numpy as `geometric - geometric` from its default generator, which
is neither exact nor secure. Ours times the whole mechanism: sparse counts in, noisy table out. Ratios are speed per cell.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from textveil.counts import LimitedPrecision
from textveil.counts.balanced import balanced_clusters
from textveil.noise import secure
from textveil.noise.discrete import geometric
from textveil.noise.table import table_geometric

DOCUMENTS, WORDS, GROUPS, LENGTH = 20_000, 6_800, 100, 100
EPSILON, PRECISION = 0.5, 10
OPENDP_ROWS = 100


def corpus(documents: int) -> sparse.csr_array:
    """Documents of `LENGTH` words each, drawn from a Zipf law."""
    rng = np.random.default_rng()
    odds = 1 / (np.arange(WORDS) + 2.7)
    words = rng.choice(WORDS, size=documents * LENGTH, p=odds / odds.sum())
    rows = np.repeat(np.arange(documents), LENGTH)
    counts = sparse.csr_array((np.ones(len(words), np.int64), (rows, words)), shape=(documents, WORDS))
    counts.sum_duplicates()
    return counts


def seconds(run: Callable[[], object], rounds: int) -> float:
    """Median time of a few runs."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def show(what: str, cells: int, took: float) -> float:
    """Print one line and return cells a second."""
    print(f"{what:58} {took:8.2f} s {cells / took / 1e6:10.2f} M cells/s", flush=True)
    return cells / took


def numpy_draws(rows: int, columns: int, scale: float) -> np.ndarray:
    """A table of the same size and type as ours, filled in blocks (64-bit tables of this size would not fit)."""
    rng, p = np.random.default_rng(), 1 - np.exp(-1 / scale)
    out = np.empty((rows, columns), np.int32)
    for start in range(0, rows, 100):
        some = out[start : start + 100]
        some[:] = rng.geometric(p, some.shape) - rng.geometric(p, some.shape)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round, no clustering of 50,000 words")
    options = parser.parse_args()
    rounds = 1 if options.quick else 3
    scale = PRECISION / EPSILON
    counts = corpus(DOCUMENTS)
    dense = LimitedPrecision(epsilon=EPSILON, precision=PRECISION).fit(counts)
    grouped = LimitedPrecision(
        epsilon=EPSILON, precision=PRECISION, compress=GROUPS, method="random", prior="uniform", decompress=False
    ).fit(counts)
    dealt = LimitedPrecision(epsilon=EPSILON, precision=PRECISION, compress=GROUPS).fit(counts)
    table_geometric(secure(), 10, scale)  # builds the table once

    full, few = DOCUMENTS * WORDS, DOCUMENTS * GROUPS
    np.ones(full, np.int32)  # whoever touches memory first waits for the machine to hand it out: nobody who is timed
    ours = show(
        f"ours, {DOCUMENTS:,} x {WORDS:,}, noisy counts", full, seconds(lambda: dense.transform(counts), rounds)
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    draws = show(
        f"ours, {DOCUMENTS:,} x {WORDS:,}, draws alone",
        full,
        seconds(lambda: table_geometric(secure(), (DOCUMENTS, WORDS), scale), rounds),
    )
    numpy = show(
        f"numpy geometric - geometric, {DOCUMENTS:,} x {WORDS:,}",
        full,
        seconds(lambda: numpy_draws(DOCUMENTS, WORDS, scale), rounds),
    )
    opendp = show(
        f"OpenDP, {OPENDP_ROWS} x {WORDS:,}",
        OPENDP_ROWS * WORDS,
        seconds(lambda: geometric((OPENDP_ROWS, WORDS), scale), rounds),
    )
    small = show(f"ours, {DOCUMENTS:,} x {GROUPS} groups", few, seconds(lambda: grouped.transform(counts), rounds))
    show(f"ours, {GROUPS} groups, dealt out to {WORDS:,} words", few, seconds(lambda: dealt.transform(counts), rounds))
    print(f"largest memory up to the dense table: {memory:.2f} GB")
    if not options.quick:
        points = np.random.default_rng().standard_normal((50_000, 100), dtype=np.float32)
        start = time.perf_counter()
        found = balanced_clusters(points, 500, secure(), rounds=1)
        took = time.perf_counter() - start
        print(
            f"balanced k-means, 50,000 points, 500 clusters, one round: {took:.1f} s, within {found.gap:.2%} of the optimum"
        )
    ratios = {
        "dense_over_opendp": ours / opendp,
        "dense_over_numpy": ours / numpy,
        "draws_over_numpy": draws / numpy,
        "compressed_over_opendp": small / opendp,
        "dense_seconds": full / ours,
        "dense_gigabytes": memory,
        "compressed_seconds": few / small,
    }
    print(json.dumps({"room": "counts", "ratios": {name: round(value, 2) for name, value in ratios.items()}}))


if __name__ == "__main__":
    main()
