"""Noise-aware inference: the closed form against plain sums, and topics that clamped counts do not show."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from textveil.core import BadInput
from textveil.counts.denoise import NoiseAwareTopics, PosteriorMean, deal_topics, moment_topics, ratio_of_sums
from textveil.counts.topics import matched_jaccard
from textveil.noise import seeded
from textveil.noise.table import table_geometric


def posterior_mean(y: int, rate_of_words: float, rate: float) -> float:
    """E[x | y] by summing over all x that matter."""
    x = np.arange(4000)
    odds = x * np.log(rate_of_words) - gammaln(x + 1) - rate * np.abs(y - x)
    return float(np.exp(logsumexp(odds, b=np.maximum(x, 1e-300)) - logsumexp(odds)))


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("y", [0, 1, 2, 7, 40, 300])
def test_closed_form_is_the_sum(rate, y):
    lambdas = np.array([1e-5, 0.01, 0.3, 2.0, 15.0, 120.0, 900.0])
    want = [posterior_mean(y, r, rate) for r in lambdas]
    got = lambdas * ratio_of_sums(np.array([y]), lambdas, rate)[0]
    assert np.allclose(got, want, rtol=1e-5)  # 1e-10 except where a tail underflows


@pytest.mark.parametrize("y", [-1, -5, -300])
def test_negative_counts_shrink_the_rate(y):
    table = PosteriorMean(0.3, 10)
    assert table.over_rate(np.array([y]), np.array([2.0]))[0] == pytest.approx(posterior_mean(y, 2.0, 0.3) / 2.0)


def test_interpolation_is_close():
    table = PosteriorMean(0.05, 400)
    rates = np.exp(np.linspace(-8, 5, 57))
    for y in (0, 3, 60, 400):
        want = [posterior_mean(y, r, 0.05) / r for r in rates]
        assert np.allclose(table.over_rate(np.full(57, y), rates), want, rtol=2e-3)


def synthetic(seed: int, documents: int = 1500, topics: int = 4, words: int = 40, length: int = 80):
    """Documents of topics that own ten words each; the seed only fixes one of many equal cases."""
    source = seeded(seed)
    phi = np.full((topics, words), 0.1 / words)
    for k in range(topics):
        phi[k, 10 * k : 10 * k + 10] += 0.09
    mix = source.exponentials((documents, topics)) ** 3
    rates = length * (mix / mix.sum(axis=1, keepdims=True)) @ phi
    return phi, (source.uniforms(rates.shape) < rates % 1) + np.floor(rates).astype(int)


def test_topics_are_found_under_noise_larger_than_the_counts():
    phi, counts = synthetic(1)
    noisy = counts + table_geometric(seeded(2), counts.shape, 5.0)
    model = NoiseAwareTopics(4, rate=1 / 5.0, iterations=30, seed=3).fit(noisy)
    assert matched_jaccard(model.components_, phi, count=10).mean() > 0.8
    assert np.allclose(model.components_.sum(axis=1), 1)


def test_moments_do_not_see_the_noise():
    phi, counts = synthetic(4)
    noisy = counts + table_geometric(seeded(5), counts.shape, 5.0)
    clean, found = moment_topics(counts, 4, 20.0, seed=6), moment_topics(noisy, 4, 1 / 5.0, seed=6)
    assert matched_jaccard(clean, phi, count=10).mean() > 0.9
    assert matched_jaccard(found, phi, count=10).mean() > 0.7


def test_groups_are_dealt_out_by_weight():
    dealt = deal_topics(np.array([[0.75, 0.25]]), np.array([0, 1, 0]), np.array([1.0, -2.0, 3.0]))
    assert np.allclose(dealt, [[0.1875, 0.25, 0.5625]])


@pytest.mark.parametrize("table", [np.ones((3, 2)), np.ones(3, int), np.ones((1, 2), int)])
def test_other_tables_are_refused(table):
    with pytest.raises(BadInput):
        NoiseAwareTopics(2, rate=1.0).fit(table)
