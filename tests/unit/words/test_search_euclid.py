"""Euclidean search against float64 distances. False-alarm rate of the one statistical test: 1e-6."""

import numpy as np
import pytest
from scipy.stats import chisquare

from textveil.core.errors import BadInput, BadParameter
from textveil.words.search import EuclidSearch
from textveil.words.search.ties import priority


def compiled_engine_missing():
    try:
        EuclidSearch(np.zeros((1, 1), np.float32), engine="numba")
    except BadInput:
        return True
    return False


ENGINES = [
    "numpy",
    pytest.param("numba", marks=pytest.mark.skipif(compiled_engine_missing(), reason="no numba or no AVX2")),
]


def all_squares(matrix, queries):
    difference = queries[:, None, :].astype(np.float64) - matrix[None, :, :]
    return (difference * difference).sum(axis=2)


def spread_out(rng, count, columns, batch):
    """Vectors of uneven length off the origin, and noised ones of very different length."""
    matrix = rng.standard_normal((count, columns)) * rng.gamma(2, 1, (count, 1)) + rng.standard_normal(columns)
    noise = rng.standard_normal((batch, columns)) * rng.gamma(1, 3, (batch, 1))
    return matrix.astype(np.float32), (matrix[rng.integers(0, count, batch)] + noise).astype(np.float32)


def on_a_grid(rng, count, columns, batch):
    """Small whole numbers: distances are exact, ties and duplicates frequent."""
    return (rng.integers(-2, 3, (rows, columns)).astype(np.float32) for rows in (count, batch))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("count", "columns", "batch"),
    [(1, 1, 3), (100, 1, 50), (333, 3, 41), (1000, 50, 301), (1600, 100, 130), (400, 299, 60), (513, 300, 258)],
)
def test_nearest_has_the_least_float64_distance(engine, count, columns, batch):
    matrix, queries = spread_out(np.random.default_rng(), count, columns, batch)
    squares = all_squares(matrix, queries)
    search = EuclidSearch(matrix, engine=engine)
    index = search.nearest(queries)
    assert index.dtype == np.int32
    np.testing.assert_allclose(squares[np.arange(batch), index], squares.min(axis=1), rtol=1e-13)
    for k in {1, min(2, count), min(8, count)}:
        ranked, distances = search.k_nearest(queries, k)
        order = np.argsort(squares, axis=1)[:, :k]
        best = np.take_along_axis(squares, order, axis=1)
        np.testing.assert_allclose(distances, np.sqrt(best), rtol=1e-12)
        np.testing.assert_allclose(np.take_along_axis(squares, ranked.astype(int), axis=1), best, rtol=1e-13)
        assert all(len(set(row)) == k for row in ranked.tolist())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("columns", [1, 2, 5, 9])
@pytest.mark.parametrize("tied_at_random", [False, True])
def test_ties_are_taken_by_rule(engine, columns, tied_at_random):
    rng = np.random.default_rng()
    matrix, queries = on_a_grid(rng, 300, columns, 60)
    words = rng.integers(0, 2**64, 60, dtype=np.uint64) if tied_at_random else None
    squares = all_squares(matrix, queries)
    search = EuclidSearch(matrix, engine=engine)
    ranked, distances = search.k_nearest(queries, 4, words)
    found = search.nearest(queries, words)
    for i, row in enumerate(squares):
        index = np.arange(len(row))
        key = index if words is None else priority(words[i], index)
        assert ranked[i].tolist() == np.lexsort((key, row))[:4].tolist()
        assert distances[i].tolist() == np.sqrt(row[ranked[i]]).tolist()
        tied = np.flatnonzero(row == row.min())
        assert found[i] == tied[0 if words is None else int(words[i]) * len(tied) >> 64]


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_vectors_are_chosen_uniformly(engine):
    """Chi-square over 24 copies of one vector among others; a sound search fails once in a million runs."""
    rng = np.random.default_rng()
    matrix = rng.standard_normal((200, 10)).astype(np.float32) + 20
    tied = np.sort(rng.choice(200, 24, replace=False))
    matrix[tied] = rng.standard_normal(10).astype(np.float32)
    queries = np.repeat(rng.standard_normal((1, 10)).astype(np.float32), 12_000, axis=0)
    words = rng.integers(0, 2**64, len(queries), dtype=np.uint64)
    seen = np.bincount(EuclidSearch(matrix, engine=engine).nearest(queries, words), minlength=200)
    assert seen[tied].sum() == len(queries)
    assert chisquare(seen[tied]).pvalue > 1e-6


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e6, 1e13])
def test_scale_does_not_matter(engine, size):
    rng = np.random.default_rng()
    matrix, queries = (part * np.float32(size) for part in spread_out(rng, 400, 20, 50))
    squares = all_squares(matrix, queries)
    index = EuclidSearch(matrix, engine=engine).nearest(queries)
    np.testing.assert_allclose(squares[np.arange(50), index], squares.min(axis=1), rtol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_nearly_equal_vectors_far_from_the_origin(engine):
    """Differences in the last bits of float32: screening decides nothing here, float64 has to."""
    rng = np.random.default_rng()
    matrix = np.float32(1000) + rng.integers(0, 4, (300, 12)).astype(np.float32) * np.float32(2**-13)
    queries = np.float32(1000) + rng.integers(0, 4, (40, 12)).astype(np.float32) * np.float32(2**-13)
    squares = all_squares(matrix, queries)
    index = EuclidSearch(matrix, engine=engine).nearest(queries)
    assert squares[np.arange(40), index].tolist() == squares.min(axis=1).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_degenerate_vocabularies(engine):
    """Zero vectors, one word many times, queries equal to the mean."""
    same = np.zeros((50, 6), np.float32)
    assert EuclidSearch(same, engine=engine).nearest(same[:3]).tolist() == [0, 0, 0]
    pair = np.array([[-1.0, 0.0], [1.0, 0.0]], np.float32)
    search = EuclidSearch(pair, engine=engine)
    middle = np.zeros((1, 2), np.float32)
    assert search.nearest(middle, np.array([2**63], np.uint64)).tolist() == [1]
    assert search.k_nearest(middle, 2)[1].tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_and_empty_batch(engine):
    rng = np.random.default_rng()
    matrix, queries = spread_out(rng, 700, 30, 35)
    words = rng.integers(0, 2**64, 35, dtype=np.uint64)
    one, three = (EuclidSearch(matrix, engine=engine, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.nearest(queries, words), three.nearest(queries, words))
    assert np.array_equal(one.k_nearest(queries, 3, words)[0], three.k_nearest(queries, 3, words)[0])
    assert one.nearest(queries[:0]).shape == (0,)
    assert one.k_nearest(queries[:0], 3)[1].shape == (0, 3)


@pytest.mark.data
@pytest.mark.parametrize("engine", ENGINES)
def test_real_vectors_with_the_noise_that_matters(engine, data_dir):
    rng = np.random.default_rng()
    path = data_dir / "glove-100d" / "glove.6B.100d.100k.f16.npz"
    matrix = np.load(path)["vectors"][:50_000].astype(np.float32)
    noise = rng.standard_normal((200, 100))
    noise *= rng.gamma(100, 1 / rng.choice([5, 10, 15], (200, 1))) / np.linalg.norm(noise, axis=1, keepdims=True)
    queries = (matrix[rng.integers(0, len(matrix), 200)] + noise).astype(np.float32)
    index = EuclidSearch(matrix, engine=engine).nearest(queries)
    for query, found in zip(queries, index, strict=True):
        squares = ((query.astype(np.float64) - matrix) ** 2).sum(axis=1)
        assert squares[found] <= squares.min() * (1 + 1e-13)


def test_bad_arrays_are_refused():
    matrix = np.zeros((3, 2), np.float32)
    with pytest.raises(BadInput, match="float32"):
        EuclidSearch(matrix.astype(np.float64))
    with pytest.raises(BadInput, match="empty"):
        EuclidSearch(matrix[:0])
    with pytest.raises(BadInput, match="not finite"):
        EuclidSearch(np.full((2, 2), np.nan, np.float32))
    search = EuclidSearch(matrix)
    with pytest.raises(BadInput, match="not finite"):
        search.nearest(np.full((1, 2), np.inf, np.float32))
    with pytest.raises(BadInput, match="columns"):
        search.nearest(np.zeros((1, 3), np.float32))
    with pytest.raises(BadParameter, match="k must be"):
        search.k_nearest(matrix, 0)
    with pytest.raises(BadParameter, match="threads"):
        EuclidSearch(matrix, threads=0)
