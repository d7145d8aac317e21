"""Certificates: right where the truth is known, and failing where a mechanism is faulty."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

import textveil as tv
from textveil.accounting.largest_gaps import _in_blocks, largest_gaps
from textveil.recipes.words.certify import certify_words
from textveil.text.codes import Codes, hamming
from textveil.text.vectors import from_arrays
from textveil.words.certify import BEYOND, certify, judge
from textveil.words.transition.matrix import Transition, by_enumeration, by_exact_odds
from textveil.words.transition.metric import all_distances, pair_distances, spread
from textveil.words.transition.rays import by_rays
from textveil.words.vickrey import pair_odds


def cloud(count: int, dimension: int, seed: int = 1, bits: int | None = None):
    rng = np.random.default_rng(seed)
    made = from_arrays([f"w{i}" for i in range(count)], rng.normal(size=(count, dimension)))
    if bits is None:
        return made
    return made.with_codes(Codes.from_bits(made.words, rng.integers(0, 2, size=(count, bits))))


LINE = from_arrays(list("abcde"), [[0.0], [0.7], [1.1], [2.5], [3.0]], allow_zero=True)


def line_oracle(points: np.ndarray, epsilon: float, t: float, excluded: bool) -> np.ndarray:
    """Vickrey on a line by QUADPACK, between all points where the order of neighbours may change."""
    middles = [(a + b) / 2 for a, b in itertools.combinations(points, 2)]
    cuts = np.unique([*middles, *points, points.min() - 60 / epsilon, points.max() + 60 / epsilon])
    odds = np.zeros((len(points), len(points)))
    for a in range(len(points)):
        allowed = np.array([i for i in range(len(points)) if not (excluded and i == a)])
        for low, high in itertools.pairwise(cuts):
            order = allowed[np.argsort(abs(points[allowed] - (low + high) / 2))][:2]
            for place in (0, 1):

                def density(z, place=place, order=order, a=a):
                    p = pair_odds(t, abs(points[order] - z)[None])[0, place]
                    return 0.5 * epsilon * np.exp(-epsilon * abs(z - points[a])) * p

                odds[a, order[place]] += quad(density, low, high, epsabs=1e-14)[0]
    return odds


@pytest.mark.parametrize("paper_mode", [False, True])
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_the_line_is_integrated_exactly(t, paper_mode):
    made = by_rays(tv.words.Vickrey(epsilon=2.0, t=t, paper_mode=paper_mode).fit(LINE))
    truth = line_oracle(LINE.matrix[:, 0].astype(float), 2.0, t, paper_mode)
    assert np.exp(made.log_odds[:5]) == pytest.approx(truth, abs=1e-11)
    assert np.exp(made.log_odds).sum(axis=1) == pytest.approx(np.ones(6), abs=1e-12)
    assert made.unresolved == 0 and np.max(made.log_error) < 1e-11


@pytest.mark.parametrize(
    "mechanism",
    [
        tv.words.Laplace(epsilon=2.0),
        tv.words.Vickrey(epsilon=2.0, t=0.4),
        tv.words.Vickrey(epsilon=2.0, t=[0.5, 1.0, 2.0], k=3),
        tv.words.Vickrey(epsilon=2.0, rank=2),
        tv.words.Mahalanobis(epsilon=2.0, lam=0.3),
    ],
    ids=lambda m: f"{m.name}-{getattr(m, 'k', '')}",
)
def test_sound_mechanisms_are_certified_on_a_line(mechanism):
    found = certify(mechanism.fit(cloud(40, 1)))
    assert found.verdict == "certified" and found.worst <= 1e-9 and found.error < 1e-9


@pytest.mark.parametrize("dimension", [1, 2])
def test_paper_mode_is_refuted_with_an_infinite_ratio(dimension):
    found = certify(tv.words.Vickrey(epsilon=2.0, paper_mode=True).fit(cloud(8, dimension)), angles=128)
    assert found.verdict == "refuted" and found.worst == np.inf
    assert found.at[2] in found.at[:2]  # the output that one of the two inputs can never give is that input


@pytest.mark.parametrize("cls", [tv.words.Laplace, tv.words.Mahalanobis, tv.words.Vickrey])
def test_the_plane_agrees_with_drawn_frequencies(cls):
    """alpha = 1e-6 by a chi-square test."""
    from textveil.testing.statistics import assert_chi_square

    words = cloud(7, 2, seed=4)
    m = cls(epsilon=2.0).fit(words)
    made = by_rays(m, 512)
    assert np.exp(made.log_odds).sum(axis=1) == pytest.approx(np.ones(8), abs=1e-9)
    counts = m.substitutes("w3", draws=40_000)
    assert_chi_square(np.array([counts[w] for w in words.words]), np.exp(made.log_odds[3]), alpha=1e-6)
    assert certify(m, angles=512).verdict == "certified"


def test_the_reported_error_of_the_plane_covers_the_true_one():
    m = tv.words.Vickrey(epsilon=2.0, t=0.4).fit(cloud(6, 2, seed=5))
    rough, fine = by_rays(m, 64), by_rays(m, 2048)
    assert np.all(np.abs(rough.log_odds - fine.log_odds) <= rough.log_error + fine.log_error)
    assert np.max(fine.log_error) < np.max(rough.log_error)


def test_words_with_equal_vectors_share_their_odds():
    m = tv.words.Laplace(epsilon=2.0).fit(from_arrays(["a", "b", "c"], [[1.0], [1.0], [3.0]]))
    odds = np.exp(by_rays(m).log_odds)
    assert odds[0, 0] == odds[0, 1] == odds[1, 0]
    assert odds[:2].sum(axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize("cls", [tv.words.Exponential, tv.words.TEM])
@pytest.mark.parametrize("distance", ["euclidean", "angular", "hamming"])
def test_exact_odds_are_certified(cls, distance):
    found = certify(cls(epsilon=2.0, distance=distance).fit(cloud(60, 4, bits=16)))
    assert found.verdict == "certified" and found.worst <= 1e-9 and found.method == "exact odds"


def test_twice_the_promised_epsilon_is_refuted():
    m = tv.words.Exponential(epsilon=6.0).fit(cloud(60, 4))
    odds = by_exact_odds(m)
    m.epsilon = 1.0  # claims less than it keeps
    found = judge(m, odds, "exact odds")
    assert found.verdict == "refuted" and found.worst > 0.1


def test_brr_enumeration_matches_the_plain_sum_and_is_certified():
    words = cloud(30, 3, bits=9)
    m = tv.words.BRR(epsilon=0.8).fit(words)
    codes = words.codes.words64
    away = hamming(np.arange(2**9, dtype=np.uint64)[:, None, None], codes[None])
    nearest = away == away.min(axis=1, keepdims=True)
    p = 1 / (1 + np.exp(0.8))
    plain = (p**away * (1 - p) ** (9 - away)).T @ (nearest / nearest.sum(axis=1, keepdims=True))
    assert np.exp(by_enumeration(m).log_odds[:30]) == pytest.approx(plain, rel=1e-9)
    found = certify(m)
    assert found.verdict == "certified" and found.worst <= 1e-9
    m.epsilon = 0.4
    assert judge(m, by_enumeration(tv.words.BRR(epsilon=0.8).fit(words)), "enumeration").verdict == "refuted"


def test_a_large_vocabulary_is_cut_and_says_so():
    found = certify(tv.words.Exponential(epsilon=2.0).fit(cloud(50, 4)), words=20)
    assert found.words == 20 and "cut to its first 20" in found.notes[0]


def test_high_dimensions_are_beyond_enumeration():
    assert certify(tv.words.Laplace(epsilon=2.0).fit(cloud(50, 4))).verdict == BEYOND
    assert certify(tv.words.BRR(epsilon=2.0).fit(cloud(50, 4, bits=20))).verdict == BEYOND


def test_odds_too_rare_to_see_are_not_called_impossible():
    odds = np.log(np.array([[0.5, 0.5], [1.0, 1e-290]]))
    m = tv.words.Laplace(epsilon=1.0).fit(from_arrays(["a", "b"], [[1.0], [2.0]], fallback=[1.0]))
    matrix = Transition(np.vstack([odds, odds[:1]]), np.array([[0, 0], [0, np.inf], [0, 0.0]]))
    found = judge(m, matrix, "by hand")
    assert found.verdict == "certified" and found.unresolved == 1 and "left out" in found.notes[-1]


@pytest.mark.parametrize("cls", [tv.words.Exponential, tv.words.TEM])
def test_equal_vectors_far_from_the_origin_are_certified(cls):
    """A distance by a matrix product alone is 1e-6 between equal vectors of norm 33, where it must be 0."""
    matrix = np.random.default_rng(0).normal(size=(40, 100))
    matrix *= 33 / np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix[1], matrix[7] = matrix[0], matrix[6]
    words = tv.vectors.from_arrays([f"w{i}" for i in range(40)], matrix.astype(np.float32))
    for epsilon in (0.5, 10.0):
        assert certify(cls(epsilon=epsilon).fit(words)).verdict == "certified"


def test_gaps_with_and_without_numba_agree_with_the_definition():
    rng = np.random.default_rng(2)
    up, down = rng.normal(size=(37, 23)), rng.normal(size=(19, 23))
    truth = (up[:, None] - down[None]).max(axis=2)
    blocks = np.empty_like(truth)
    _in_blocks(up, down, blocks)
    assert np.array_equal(largest_gaps(up, down), truth) and np.array_equal(blocks, truth)


@pytest.mark.parametrize("name", ["laplace", "mahalanobis", "brr", "exponential"])
def test_distances_pair_by_pair_and_all_at_once_agree(name):
    m = {
        "laplace": tv.words.Laplace(),
        "mahalanobis": tv.words.Mahalanobis(),
        "brr": tv.words.BRR(),
        "exponential": tv.words.Exponential(distance="angular"),
    }[name].fit(cloud(30, 4, bits=16))
    apart = all_distances(m)
    first, second = np.divmod(np.arange(31 * 31), 31)
    assert pair_distances(m, first, second) == pytest.approx(apart.ravel(), abs=1e-12)
    found = spread(m, tv.noise.secure())
    assert found.mean == pytest.approx(apart[:30, :30].mean()) and found.largest == pytest.approx(apart[:30, :30].max())


def test_the_audit_refutes_paper_mode_and_not_the_sound_variant():
    """False alarms: 1e-6 by the level of the audit."""
    words = cloud(60, 5, seed=3)
    bad = certify_words(tv.words.Vickrey(epsilon=2.0, paper_mode=True).fit(words), draws=4_000, level=1 - 1e-6)
    assert bad["verdict"] == "refuted" and bad["evidence"]["epsilon_floor"] == "inf"
    good = certify_words(tv.words.Vickrey(epsilon=2.0).fit(words), draws=4_000, level=1 - 1e-6)
    assert good["verdict"] == "beyond enumeration, not refuted by the audit"
