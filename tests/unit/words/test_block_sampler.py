"""Draws block by block: the bounds are bounds, and the law is that of the exact odds."""

from __future__ import annotations

import numpy as np
import pytest

import textveil as tv
from textveil.noise import secure, seeded
from textveil.testing.statistics import assert_chi_square
from textveil.text.codes import Codes
from textveil.text.vectors import from_arrays
from textveil.words import exponential
from textveil.words.block_sampler import BlockSampler, is_precise_enough


def cloud(words=300, dimensions=7, stretch=1.0):
    """Words in space, among them equal ones, a far one and one at the origin."""
    rng = np.random.default_rng(3)
    matrix = (stretch * rng.normal(size=(words, dimensions))).astype(np.float32)
    matrix[5], matrix[7], matrix[11] = matrix[4], matrix[4] * (1 + 1e-6), 40 * matrix[11]
    matrix[12] = 0.0
    names = [f"w{i}" for i in range(words)]
    vectors = from_arrays(names, matrix, allow_zero=True)
    codes = rng.integers(0, 2**20, size=(words, 1), dtype=np.uint64)
    return vectors.with_codes(Codes.from_packed(vectors.words, codes, 20))


KINDS = [
    (cls, distance, epsilon, stretch)
    for cls in (tv.words.Exponential, tv.words.TEM)
    for distance in ("euclidean", "angular", "hamming")
    for epsilon, stretch in ((0.5, 1.0), (6.0, 1.0), (40.0, 0.1), (0.05, 100.0))
]


def mechanism(cls, distance, epsilon, stretch):
    return cls(epsilon=epsilon, distance=distance).fit(cloud(stretch=stretch))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_block_weighs_more_than_its_bound_and_the_law_is_exact(kind):
    """The law of one round, written out for every row: bound of a block, kept or not, word within it."""
    m = mechanism(*kind)
    blocks = m._blocks
    rows = np.arange(len(m.vectors_) + 1)
    bounds, origin = blocks.bounds(rows)
    weights = [blocks.odds_in(rows, origin, b) for b in range(len(blocks.starts))]
    sums = np.stack([w.sum(axis=1) for w in weights], axis=1)
    assert (sums <= bounds).all()
    choose, keep = bounds / bounds.sum(axis=1, keepdims=True), sums / bounds
    law = np.hstack(
        [choose[:, [b]] * keep[:, [b]] * w / np.where(sums[:, [b]] > 0, sums[:, [b]], 1) for b, w in enumerate(weights)]
    )
    assert law / law.sum(axis=1, keepdims=True) == pytest.approx(m.odds(rows), rel=1e-9, abs=1e-30)
    assert np.median(law.sum(axis=1)) > 0.95  # hardly a draw is rejected, but for twins and the vector of zeros


@pytest.mark.parametrize("distance", ["euclidean", "angular", "hamming"])
@pytest.mark.parametrize("cls", [tv.words.Exponential, tv.words.TEM], ids=lambda c: c.name)
def test_drawn_frequencies_are_the_exact_odds(cls, distance, monkeypatch):
    """alpha = 1e-6 by a chi-square test for each of three rows, the point of unknown words among them."""
    monkeypatch.setattr(exponential, "MOST_BY_WHOLE_ROWS", 10)
    m = cls(epsilon=1.5, distance=distance).fit(cloud())
    for row in (4, 12, 300):
        counts = np.bincount(m.draw(np.full(30_000, row), secure()), minlength=300)
        assert_chi_square(counts, m.odds([row])[0], alpha=1e-6)


def test_rows_of_all_kinds_are_drawn_together(monkeypatch):
    monkeypatch.setattr(exponential, "MOST_BY_WHOLE_ROWS", 10)
    m = tv.words.TEM(epsilon=200.0, beta=1e-12).fit(cloud(dimensions=30))
    rows = np.random.default_rng(1).integers(20, 300, 50_000)
    assert (m.draw(rows, secure()) == rows).all()  # at such an epsilon words stay


def test_a_sampler_whose_bounds_are_far_too_large_still_has_the_right_law():
    """Bounds of zero distance everywhere: nearly all tries are rejected, and what is left is drawn from whole rows."""
    points = np.linspace(0, 3, 12)[:, None]

    def exact(rows, first, last):
        return abs(points[rows] - points[first:last, 0])

    def lower(rows):
        return np.zeros((len(rows), 12), dtype=np.float32)

    sampler = BlockSampler(12, 8.0, np.inf, lower, exact, blocks=5)
    counts = np.bincount(sampler.draw(np.full(20_000, 2), secure()), minlength=12)
    odds = np.exp(-8 * exact(np.array([2]), 0, 12)[0])
    assert_chi_square(counts, odds / odds.sum(), alpha=1e-6)


def test_a_parameter_that_was_set_since_counts(monkeypatch):
    monkeypatch.setattr(exponential, "MOST_BY_WHOLE_ROWS", 10)
    m = tv.words.Exponential(epsilon=0.01).fit(cloud())
    assert len(set(m.draw(np.full(200, 30), secure()).tolist())) > 50
    m.epsilon = 1000.0
    assert set(m.draw(np.full(200, 30), secure()).tolist()) == {30}
    assert "_blocks" in vars(m) and "_blocks" not in m.__getstate__()


def test_the_same_seed_draws_the_same_words_whatever_was_drawn_before(monkeypatch):
    monkeypatch.setattr(exponential, "MOST_BY_WHOLE_ROWS", 10)
    first, second = (tv.words.Exponential(epsilon=1.0).fit(cloud()) for _ in range(2))
    second.draw(np.arange(200), secure())
    rows = np.arange(300)
    assert (first.draw(rows, seeded(8)) == second.draw(rows, seeded(8))).all()


def test_kept_bounds_begin_anew_when_they_grow_too_large(monkeypatch):
    from textveil.words import block_sampler

    monkeypatch.setattr(exponential, "MOST_BY_WHOLE_ROWS", 10)
    m = tv.words.Exponential(epsilon=500.0).fit(cloud(dimensions=30))
    monkeypatch.setattr(block_sampler, "_MOST_BYTES", 4 * 150 * 20)  # 150 blocks of two words
    for start in range(20, 300, 10):
        rows = np.arange(start, start + 10)
        assert (m.draw(rows, secure()) == rows).all()
        assert len(m._blocks._place) <= 20


def test_an_epsilon_beyond_single_precision_goes_by_whole_rows(monkeypatch):
    monkeypatch.setattr(exponential, "MOST_BY_WHOLE_ROWS", 10)
    assert is_precise_enough(5.0, 20.0) and not is_precise_enough(1e9, 20.0)
    m = tv.words.Exponential(epsilon=1e9).fit(cloud())
    assert m.draw(np.array([30, 40]), secure()).tolist() == [30, 40] and "_blocks" not in vars(m)
