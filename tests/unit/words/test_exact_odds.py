"""Mechanisms with known odds, enumerated: the promise holds for every pair of inputs and every output."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

import textveil as tv
from textveil.noise.bits import flip_probability
from textveil.text.codes import hamming
from textveil.text.vectors import from_arrays
from textveil.words.vickrey import pair_odds


def random_vectors(seed: int, count: int = 60, dimension: int = 4, bits: int = 16):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2**bits, size=(count, 1), dtype=np.uint64)
    return from_arrays([f"w{i}" for i in range(count)], rng.normal(size=(count, dimension)), codes=codes)


def worst_excess(odds: np.ndarray, distance: np.ndarray, epsilon: float) -> float:
    """max over inputs a, b and outputs y of ln P[a, y] - ln P[b, y] - epsilon d(a, b)."""
    with np.errstate(divide="ignore"):
        log = np.log(odds)
    return max(
        float((log[a] - log[b]).max() - epsilon * distance[a, b])
        for a, b in itertools.permutations(range(len(odds)), 2)
    )


@pytest.mark.parametrize("distance", ["euclidean", "angular", "hamming"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("cls", [tv.words.Exponential, tv.words.TEM])
def test_exponential_and_tem_keep_their_promise_for_every_pair(cls, epsilon, distance):
    m = cls(epsilon=epsilon, distance=distance).fit(random_vectors(1))
    rows = np.arange(61)  # with the point of unknown words
    odds = m.odds(rows)
    assert odds.sum(axis=1) == pytest.approx(np.ones(61))
    between = np.zeros((61, 61))
    between[:, :60] = m.distances(rows)
    between[:60, 60] = between[60, :60]
    assert worst_excess(odds, between, epsilon) <= 1e-9


def test_tem_with_the_wrong_far_set_fails_by_nats():
    """With ln(|W| / |L|) in place of ln |W \\ L|, as first published, the certificate must not hold."""
    m = tv.words.TEM(epsilon=2.0, gamma=1.5).fit(random_vectors(2))
    d = m.distances(np.arange(60))
    near = d <= m.gamma_
    wrong = np.where(near, np.exp(-m.epsilon * d / 2), 0.0)
    far = (~near).sum(axis=1, keepdims=True)
    mass = np.exp(-m.epsilon * m.gamma_ / 2) * 60 / near.sum(axis=1, keepdims=True)
    wrong += np.where(near, 0.0, mass / np.maximum(far, 1))
    wrong /= wrong.sum(axis=1, keepdims=True)
    assert worst_excess(wrong, d, m.epsilon) > 0.5


def brr_matrix(codes: np.ndarray, bits: int, epsilon: float) -> np.ndarray:
    """BRR's transition matrix by enumeration of all noised codes, ties shared equally."""
    points = np.arange(2**bits, dtype=np.uint64)[:, None]
    p = float(flip_probability(epsilon))
    away = hamming(points[:, None, :], codes[None])
    nearest = away == away.min(axis=1, keepdims=True)
    share = nearest / nearest.sum(axis=1, keepdims=True)
    noise = p**away * (1 - p) ** (bits - away)
    return noise.T @ share


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_brr_keeps_its_promise_for_every_pair_by_enumeration(epsilon):
    codes = np.random.default_rng(3).integers(0, 2**10, size=(40, 1), dtype=np.uint64)
    codes[7] = codes[8]  # equal codes
    odds = brr_matrix(codes, 10, epsilon)
    assert odds.sum(axis=1) == pytest.approx(np.ones(40))
    assert worst_excess(odds, hamming(codes[:, None], codes[None]), epsilon) <= 1e-9


def vickrey_line(points: np.ndarray, epsilon: float, t: float, excluded: bool) -> np.ndarray:
    """Transition matrix of Vickrey on a line, integrated between the points where the order of neighbours changes."""
    n = len(points)
    middles = [(a + b) / 2 for a, b in itertools.combinations(points, 2)]
    cuts = np.unique(np.concatenate([middles, points, [points.min() - 60 / epsilon, points.max() + 60 / epsilon]]))
    odds = np.zeros((n, n))
    for a in range(n):
        allowed = np.array([i for i in range(n) if not (excluded and i == a)])
        for low, high in itertools.pairwise(cuts):
            order = allowed[np.argsort(abs(points[allowed] - (low + high) / 2))][:2]

            def density(z, first, a=a, order=order):
                p = pair_odds(t, abs(points[order] - z)[None])[0, 0]
                return 0.5 * epsilon * np.exp(-epsilon * abs(z - points[a])) * (p if first else 1 - p)

            odds[a, order[0]] += quad(density, low, high, args=(True,), epsabs=1e-13)[0]
            odds[a, order[1]] += quad(density, low, high, args=(False,), epsabs=1e-13)[0]
    return odds


POINTS = np.array([0.0, 0.7, 1.1, 2.5, 3.0])


@pytest.mark.parametrize("t", [0.0, 0.25, 0.75, 1.0])
def test_vickrey_on_a_line_keeps_its_promise_by_integration(t):
    odds = vickrey_line(POINTS, 2.0, t, excluded=False)
    assert odds.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-9)
    assert worst_excess(odds, abs(POINTS[:, None] - POINTS), 2.0) <= 1e-8


def test_vickrey_as_printed_breaks_it():
    odds = vickrey_line(POINTS, 2.0, 0.5, excluded=True)
    assert worst_excess(odds, abs(POINTS[:, None] - POINTS), 2.0) == np.inf


def test_paper_mode_never_returns_the_input_and_promises_nothing():
    words = from_arrays(["a", "b", "c", "d", "e"], POINTS[:, None], allow_zero=True)
    m = tv.words.Vickrey(epsilon=2.0, paper_mode=True).fit(words)
    assert m.substitutes("c", draws=2000)["c"] == 0
    assert m.guarantee_.label == "broken"
    assert tv.words.Vickrey(epsilon=2.0, t=0.5).fit(words).substitutes("c", draws=2000)["c"] > 0


@pytest.mark.parametrize("cls,expected", [(tv.words.Laplace, 0.0), (tv.words.Vickrey, 0.3)])
def test_drawn_frequencies_match_the_integral(cls, expected):
    """alpha = 1e-6 by a chi-square test."""
    from textveil.testing.statistics import assert_chi_square

    words = from_arrays(["a", "b", "c", "d", "e"], POINTS[:, None], allow_zero=True)
    m = cls(epsilon=2.0, **({"t": expected} if expected else {})).fit(words)
    law = vickrey_line(POINTS, 2.0, expected, excluded=False)
    counts = m.substitutes("c", draws=40_000)
    assert_chi_square(np.array([counts[w] for w in "abcde"]), law[2], alpha=1e-6)


def test_brr_frequencies_match_enumeration():
    """alpha = 1e-6 by a chi-square test."""
    from textveil.testing.statistics import assert_chi_square

    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2**8, size=(12, 1), dtype=np.uint64)
    codes[3] = codes[4]
    names = [f"w{i}" for i in range(12)]
    vectors = from_arrays(names, rng.normal(size=(12, 2)))
    vectors = vectors.with_codes(tv.text.codes.Codes.from_packed(vectors.words, codes, 8))
    counts = tv.words.BRR(epsilon=0.7).fit(vectors).substitutes("w3", draws=40_000)
    assert_chi_square(np.array([counts[w] for w in names]), brr_matrix(codes, 8, 0.7)[3], alpha=1e-6)
