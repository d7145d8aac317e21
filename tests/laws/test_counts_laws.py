"""Laws of released counts, for random documents: the loss is bounded exactly, whatever the grouping.

The likelihood of a noisy row is a product of known factors, so the log-likelihood ratio of two documents is a closed form.
It is computed here from the documents and the sizes of the noise alone, and never exceeds what the event promises.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from textveil.core import Shape
from textveil.counts import LimitedPrecision, matrix
from textveil.counts.decompression import decompress
from textveil.counts.grouping import by_frequency, membership
from textveil.counts.matrix import noisy_corpus_counts
from textveil.counts.spending import divide, scale_for
from textveil.noise import secure, seeded
from textveil.testing import Worlds, check_mechanism

ROUNDING = 1e-9

documents = st.lists(st.integers(0, 9), min_size=2, max_size=12)


@st.composite
def neighbours(draw):
    """Two documents at L1 distance N or less, and a few other documents that do not change."""
    first = np.array(draw(documents))
    n = draw(st.integers(1, 12))
    second = first.copy()
    left = n
    for j in draw(st.permutations(range(len(first)))):
        step = draw(st.integers(-min(left, int(second[j])), left))
        second[j] += step
        left -= abs(step)
    others = draw(st.lists(st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first)), max_size=3))
    return first, second, n, np.array(others, np.int64).reshape(-1, len(first))


def log_ratio(output: np.ndarray, first: np.ndarray, second: np.ndarray, scale: float) -> float:
    """ln P(output | first) - ln P(output | second) under two-sided geometric noise in every cell."""
    return float((np.abs(output - second) - np.abs(output - first)).sum() / scale)


@settings(max_examples=200, deadline=None)
@given(pair=neighbours(), epsilon=st.floats(0.01, 20), groups=st.integers(1, 12), seed=st.integers(0, 2**32))
def test_log_likelihood_ratio_never_exceeds_epsilon(pair, epsilon, groups, seed):
    first, second, n, others = pair
    assert np.abs(first - second).sum() <= n
    source, width = seeded(seed), len(first)
    for compress in (None, min(groups, width)):
        mechanism = LimitedPrecision(epsilon, n, compress, "frequency")
        spent, promised = mechanism.spending(width), mechanism.event(Shape(vocabulary=width)).noise.epsilon
        loss = 0.0
        a, b = first, second
        if spent.corpus:
            scale = scale_for(spent.corpus, n)
            rest = others.sum(axis=0)
            corpus = first + rest + matrix.draw(source, (width,), scale)
            loss += log_ratio(corpus, first + rest, second + rest, scale)
            member = membership(by_frequency(corpus, compress), compress)
            a, b = first @ member, second @ member
        scale = scale_for(spent.noise, n)
        for output in (a + matrix.draw(source, a.shape, scale), np.maximum(a, b) + 5, np.minimum(a, b) - 5):
            assert abs(loss + log_ratio(output, a, b, scale)) <= promised * (1 + ROUNDING)
        assert promised <= epsilon * (1 + ROUNDING)


@settings(max_examples=100, deadline=None)
@given(pair=neighbours(), groups=st.integers(1, 12), seed=st.integers(0, 2**32))
def test_grouping_never_increases_the_distance(pair, groups, seed):
    first, second, n, _ = pair
    labels = seeded(seed).below(groups, len(first))
    member = membership(labels, groups)
    assert np.abs(first @ member - second @ member).sum() <= np.abs(first - second).sum() <= n


@settings(max_examples=100, deadline=None)
@given(pair=neighbours(), epsilon=st.floats(0.01, 20))
def test_the_loss_at_any_distance_is_proportional(pair, epsilon):
    """The bound is attained: no smaller promise would be true."""
    first, second, n, _ = pair
    scale = scale_for(epsilon, n)
    distance = np.abs(first - second).sum()
    assert log_ratio(first, first, second, scale) == pytest.approx(epsilon * distance / n)


@settings(max_examples=100, deadline=None)
@given(epsilon=st.floats(1e-4, 100), share=st.floats(0.01, 0.99), n=st.integers(1, 10_000))
def test_parts_never_sum_to_more_than_epsilon(epsilon, share, n):
    parts = divide(epsilon, share=share, needs_corpus=True)
    assert Fraction(parts.noise) + Fraction(parts.corpus) <= Fraction(epsilon)
    assert Fraction(scale_for(parts.noise, n)) * Fraction(parts.noise) >= n


@settings(max_examples=50, deadline=None)
@given(words=st.integers(1, 400), groups=st.integers(1, 400), epsilon=st.floats(0.01, 10))
def test_the_papers_rule_costs_m_over_k_times_as_much(words, groups, epsilon):
    groups = min(groups, words)
    mechanism = LimitedPrecision(epsilon, 10, groups, "random", prior="uniform", budget="paper")
    assert mechanism.event(Shape(vocabulary=words)).noise.epsilon == pytest.approx(words / groups * epsilon)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), documents=st.integers(1, 6), words=st.integers(1, 30), groups=st.integers(1, 8))
def test_dealing_out_keeps_every_group_count(seed, documents, words, groups):
    source = seeded(seed)
    labels = source.below(groups, words)
    counts = source.below(20, (documents, groups)) - 5
    dealt = decompress(counts, labels, source.uniforms(words), source)
    kept = np.maximum(counts, 0) * (np.bincount(labels, minlength=groups) > 0)
    assert (dealt @ membership(labels, groups) == kept).all()


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), shape=st.tuples(st.integers(1, 40), st.integers(1, 40)))
def test_noise_is_what_is_added_and_nothing_else(seed, shape):
    """Sparse and dense paths agree with the plain sum of counts and noise."""
    counts = seeded(seed).below(4, shape)
    rows = matrix.checked(counts)
    noise = matrix.draw(seeded(seed), shape, 2.0)
    for clamp in (True, False):
        want = np.maximum(counts + noise, 0) if clamp else counts + noise
        for to_sparse in (True, False):
            got = matrix.with_noise(rows, 2.0, seeded(seed), clamp=clamp, to_sparse=to_sparse)
            assert sparse.issparse(got) == to_sparse
            assert ((got.toarray() if to_sparse else got) == want).all()


def test_corpus_counts_are_the_sums_plus_noise():
    rows = matrix.checked([[1, 2, 0], [0, 5, 0]])
    assert noisy_corpus_counts(rows, 1e-3, secure()).tolist() == [1, 7, 0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"precision": 3},
        {"precision": 3, "clamp": False},
        {
            "precision": 3,
            "compress": 2,
            "method": "random",
            "decompress": False,
        },  # dealing out is random at any epsilon
        {"precision": 3, "compress": 2, "method": "frequency", "decompress": False, "prior": np.array([3.0, 2, 1, 1])},
    ],
    ids=["clamped", "raw", "random", "frequency"],
)
def test_it_keeps_the_laws_of_mechanisms(parameters):
    """False alarm at most 1e-6 per case. Rows are documents of their own, so a table of equal rows is many tries."""
    one, other = np.array([[3, 0, 1, 0]]), np.array([[0, 0, 1, 0]])
    worlds = [Worlds(one, other, distance=3, by_row=True)]
    sample = np.tile([[3, 0, 1, 0], [1, 1, 0, 2]], (40, 1))
    mechanism = LimitedPrecision(epsilon=1.0, empty="keep", **parameters).fit(sample)
    found = check_mechanism(mechanism, sample, worlds=worlds, tries=20_000)
    assert "the promise holds" in found.held
    assert math.isfinite(found.evidence[0][0].epsilon_floor())
