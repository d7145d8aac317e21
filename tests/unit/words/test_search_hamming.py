"""Hamming search against a direct computation. False-alarm rate of the one statistical test: 1e-6."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import chisquare

from textveil.core.errors import BadInput, BadParameter, UnknownName
from textveil.words.search import HammingSearch
from textveil.words.search.ties import priority, rank_of

ENGINES = [
    "numpy",
    pytest.param("numba", marks=pytest.mark.skipif("not __import__('importlib').util.find_spec('numba')")),
]


def random_codes(rng, count, bits):
    """`count` uniform codes of `bits` bits, 64 to a word, zero beyond."""
    padded = np.zeros((count, -(-bits // 64) * 64), np.uint8)
    padded[:, :bits] = rng.integers(0, 2, (count, bits))
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def all_distances(codes, queries):
    """Bit by bit, sharing nothing with the code under test."""
    left, right = (np.unpackbits(a.view(np.uint8), axis=1).astype(np.int32) for a in (queries, codes))
    return (left[:, None, :] != right[None, :, :]).sum(axis=2)


def expected_nearest(distances, words):
    chosen = []
    for row, word in zip(distances, words, strict=True):
        tied = np.flatnonzero(row == row.min())
        chosen.append(tied[int(word) * len(tied) >> 64])
    return chosen


def expected_ranking(distances, words, k):
    rows = []
    for i, row in enumerate(distances):
        index = np.arange(len(row))
        key = index if words is None else priority(words[i], index)
        rows.append(np.lexsort((key, row))[:k])
    return np.array(rows).reshape(len(distances), k)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("count", "bits", "batch"),
    [
        (1, 5, 3),
        (300, 1, 9),
        (300, 2, 9),
        (700, 12, 40),
        (257, 64, 40),
        (513, 130, 20),
        (1100, 256, 40),
        (300, 512, 10),
    ],
)
def test_finds_what_a_direct_computation_finds(engine, count, bits, batch):
    rng = np.random.default_rng()
    codes, queries = random_codes(rng, count, bits), random_codes(rng, batch, bits)
    words = rng.integers(0, 2**64, batch, dtype=np.uint64)
    distances = all_distances(codes, queries)
    search = HammingSearch(codes, bits, engine=engine)
    found = search.nearest(queries, words)
    assert found.dtype == np.int32
    assert found.tolist() == expected_nearest(distances, words)
    assert search.nearest(queries).tolist() == distances.argmin(axis=1).tolist()
    assert search.distances_min(queries).tolist() == distances.min(axis=1).tolist()
    for query, row in zip(queries, distances, strict=True):
        assert search.set_of_minimisers(query).tolist() == np.flatnonzero(row == row.min()).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bits", [64, 256, 512])
@pytest.mark.parametrize("count", [63, 512, 1025])
def test_ties_across_tiles(engine, bits, count):
    """Every code several times, also in the last, partly filled tile; zero codes would be found in its padding."""
    rng = np.random.default_rng()
    pool = random_codes(rng, 40, bits)
    pool[:, 0] |= np.uint64(1)
    codes, queries = pool[rng.integers(0, 40, count)], np.vstack([random_codes(rng, 20, bits), pool[:1] * np.uint64(0)])
    words = rng.integers(0, 2**64, len(queries), dtype=np.uint64)
    distances = all_distances(codes, queries)
    search = HammingSearch(codes, bits, engine=engine)
    assert search.nearest(queries, words).tolist() == expected_nearest(distances, words)
    assert search.distances_min(queries).tolist() == distances.min(axis=1).tolist()


NARROW = """
import llvmlite.binding
features = llvmlite.binding.get_host_cpu_features()
features["avx512f"] = False
llvmlite.binding.get_host_cpu_features = lambda: features
import numpy as np
from textveil.words.search import HammingSearch, plane_sums
assert plane_sums.LANES == 4
rng = np.random.default_rng()
codes, queries = (rng.integers(0, 2**64, (count, 3), dtype=np.uint64) for count in (1100, 70))
words = rng.integers(0, 2**64, 70, dtype=np.uint64)
narrow, slow = (HammingSearch(codes, 192, engine=engine) for engine in ("numba", "numpy"))
assert np.array_equal(narrow.nearest(queries, words), slow.nearest(queries, words))
assert np.array_equal(narrow.distances_min(queries), slow.distances_min(queries))
"""


@pytest.mark.skipif("not __import__('importlib').util.find_spec('numba')")
def test_without_the_wide_instructions(tmp_path):
    """The path of processors without AVX-512, run on any; it keeps its compiled code apart."""
    kept_apart = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", NARROW], check=True, env=kept_apart)


@pytest.mark.skipif("not __import__('importlib').util.find_spec('numba')")
def test_a_scan_that_errs_is_not_used(monkeypatch):
    """Where the instructions do not give what numpy gives, numpy answers."""
    planes = pytest.importorskip("textveil.words.search.hamming_planes")
    assert planes.agrees_with_numpy(70)
    monkeypatch.setattr(planes.Planes, "scan", lambda *arguments: None)
    assert not planes.agrees_with_numpy(70)
    monkeypatch.setattr(planes, "works_here", lambda bits: False)
    assert HammingSearch(np.zeros((3, 2), np.uint64), 70).engine == "numpy"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("count", "bits", "k"), [(700, 12, 1), (700, 12, 8), (600, 256, 2), (8, 64, 8)])
@pytest.mark.parametrize("tied_at_random", [False, True])
def test_k_nearest_are_sorted_and_complete(engine, count, bits, k, tied_at_random):
    rng = np.random.default_rng()
    codes, queries = random_codes(rng, count, bits), random_codes(rng, 30, bits)
    words = rng.integers(0, 2**64, 30, dtype=np.uint64) if tied_at_random else None
    distances = all_distances(codes, queries)
    index, found = HammingSearch(codes, bits, engine=engine).k_nearest(queries, k, words)
    expected = expected_ranking(distances, words, k)
    assert np.array_equal(index, expected)
    assert np.array_equal(found, np.take_along_axis(distances, expected, axis=1))


@pytest.mark.parametrize("engine", ENGINES)
def test_extreme_distances(engine):
    """Every bit different, and no bit different."""
    codes = np.full((300, 4), 2**64 - 1, np.uint64)
    search = HammingSearch(codes, 256, engine=engine)
    assert search.distances_min(np.zeros((2, 4), np.uint64)).tolist() == [256, 256]
    assert search.distances_min(codes[:2]).tolist() == [0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_more_ties_than_a_scan_remembers(engine):
    codes = np.zeros((1000, 4), np.uint64)
    codes[::2, 0] = 1
    queries = np.zeros((64, 4), np.uint64)
    words = np.random.default_rng().integers(0, 2**64, 64, dtype=np.uint64)
    expected = [2 * (int(word) * 500 >> 64) + 1 for word in words]
    assert HammingSearch(codes, 256, engine=engine).nearest(queries, words).tolist() == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_are_broken_uniformly(engine):
    """Chi-square over 24 equal codes among others; a sound search fails once in a million runs."""
    rng = np.random.default_rng()
    codes = np.full((400, 4), 2**64 - 1, np.uint64)
    tied = np.sort(rng.choice(400, 24, replace=False))
    codes[tied] = 0
    queries = np.zeros((24_000, 4), np.uint64)
    words = rng.integers(0, 2**64, len(queries), dtype=np.uint64)
    seen = np.bincount(HammingSearch(codes, 256, engine=engine).nearest(queries, words), minlength=400)
    assert seen[tied].sum() == len(queries)
    assert chisquare(seen[tied]).pvalue > 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_and_empty_batch(engine):
    rng = np.random.default_rng()
    codes, queries = random_codes(rng, 900, 100), random_codes(rng, 33, 100)
    words = rng.integers(0, 2**64, 33, dtype=np.uint64)
    one, three = (HammingSearch(codes, 100, engine=engine, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.nearest(queries, words), three.nearest(queries, words))
    assert np.array_equal(one.k_nearest(queries, 3, words)[0], three.k_nearest(queries, 3, words)[0])
    assert one.nearest(queries[:0], words[:0]).shape == (0,)
    assert one.k_nearest(queries[:0], 3)[0].shape == (0, 3)


def test_rank_is_the_exact_product():
    rng = np.random.default_rng()
    words = np.concatenate([rng.integers(0, 2**64, 500, dtype=np.uint64), np.array([0, 2**64 - 1], np.uint64)])
    counts = rng.integers(1, 2**20, len(words))
    exact = [int(word) * int(count) >> 64 for word, count in zip(words, counts, strict=True)]
    assert rank_of(words, counts).tolist() == exact


def test_bad_arrays_are_refused():
    codes = np.zeros((3, 2), np.uint64)
    search = HammingSearch(codes, 100)
    with pytest.raises(BadInput, match="uint64"):
        HammingSearch(codes.astype(np.int64), 100)
    with pytest.raises(BadInput, match="empty"):
        HammingSearch(codes[:0], 100)
    with pytest.raises(BadParameter, match="bits"):
        HammingSearch(codes, 129)
    with pytest.raises(BadInput, match="beyond the first 100"):
        search.nearest(np.full((1, 2), 2**63, np.uint64))
    with pytest.raises(BadInput, match="columns"):
        search.nearest(np.zeros((1, 3), np.uint64))
    with pytest.raises(BadInput, match="tie_words"):
        search.nearest(codes, np.zeros(2, np.uint64))
    with pytest.raises(BadParameter, match="k must be"):
        search.k_nearest(codes, 4)
    with pytest.raises(UnknownName, match="engine"):
        HammingSearch(codes, 100, engine="nunba")
