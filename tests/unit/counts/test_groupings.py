"""Groupings, the balanced assignment against an exact solver, and the dealing out of groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from textveil.core import BadInput, BadParameter
from textveil.counts import LimitedPrecision
from textveil.counts.balanced import assign, balanced_clusters
from textveil.counts.decompression import LARGEST_DEALT, _Dealer, decompress
from textveil.counts.grouping import at_random, by_cluster, by_dispersion, by_frequency
from textveil.noise import secure, seeded
from textveil.testing.statistics import assert_chi_square


@pytest.mark.parametrize(("points", "clusters"), [(12, 3), (60, 6), (101, 10), (40, 40), (30, 1)])
def test_assignment_is_within_its_certificate_of_the_optimum(points, clusters):
    cost = secure().uniforms((points, clusters)).astype(np.float32)
    capacities = np.full(clusters, points // clusters)
    capacities[: points % clusters] += 1
    found = assign(cost, capacities, tolerance=1e-3)
    rows, places = linear_sum_assignment(np.repeat(cost, capacities, axis=1))
    best = float(np.repeat(cost, capacities, axis=1)[rows, places].sum(dtype=np.float64))
    assert (np.bincount(found.labels, minlength=clusters) == capacities).all()
    assert best - 1e-4 <= found.cost <= best + points * 1e-3 * float(cost.min(axis=1).mean()) + 1e-4
    assert found.cost * (1 - found.gap) <= best + 1e-4


def test_warm_prices_give_an_assignment_that_is_as_good():
    cost = secure().uniforms((90, 9)).astype(np.float32)
    capacities = np.full(9, 10)
    first = assign(cost, capacities)
    again = assign(cost, capacities, prices=first.prices)
    assert again.cost == pytest.approx(first.cost, rel=0.01)


def test_equal_points_do_not_hang():
    found = balanced_clusters(np.zeros((50, 3)), 7, secure())
    assert sorted(np.bincount(found.labels)) == [7] * 6 + [8]


def test_wrong_numbers_are_refused():
    with pytest.raises(BadParameter):
        balanced_clusters(np.zeros((3, 2)), 4, secure())
    with pytest.raises(BadInput):
        balanced_clusters(np.array([[np.nan]]), 1, secure())
    with pytest.raises(BadParameter):
        assign(np.zeros((3, 2)), np.array([1, 1]))


def test_clusters_are_found_where_they_are():
    centres = np.array([[0.0, 0], [10, 0], [0, 10], [10, 10]])
    truth = np.repeat(np.arange(4), 25)
    points = centres[truth] + secure().normals((100, 2))
    labels = by_cluster(points, 4, secure())
    worst = max(len(set(labels[truth == t])) for t in range(4))
    assert np.bincount(labels).tolist() == [25] * 4 and worst <= 4


@pytest.mark.parametrize(("words", "groups"), [(100, 10), (103, 10), (7, 7), (9, 4)])
def test_dispersion_puts_neighbours_apart(words, groups):
    points = secure().normals((words, 5))
    labels = by_dispersion(points, groups, secure())
    assert labels.min() >= 0 and labels.max() < groups
    assert np.bincount(labels, minlength=groups).max() <= -(-words // groups)


def test_dispersed_words_of_one_cluster_have_different_groups():
    points = np.repeat(np.eye(6) * 100, 4, axis=0) + 0.01 * secure().normals((24, 6))
    labels = by_dispersion(points, 4, secure())
    shared = [len(set(labels[4 * c : 4 * c + 4])) for c in range(6)]
    assert np.mean(shared) > 2.5  # four words thrown at random into four groups share 2.7 on average; clusters give 4


def test_frequency_deals_ranks_round_robin():
    counts = np.array([50, 40, 30, 20, 10, 5])
    assert by_frequency(counts, 3).tolist() == [0, 1, 2, 0, 1, 2]
    assert by_frequency(counts[::-1], 2).tolist() == [1, 0, 1, 0, 1, 0]


def test_random_groups_are_uniform():
    """False alarm: about one in a million."""
    assert_chi_square(np.bincount(at_random(50_000, 20, secure()), minlength=20), np.full(20, 1 / 20))


def test_dealing_follows_the_weights():
    """False alarm: about one in a million."""
    groups = np.array([0, 1, 0, 1, 0])
    weights = np.array([6.0, 1.0, 3.0, -4.0, 1.0])  # noisy weights may be negative: they count as 0
    dealt = decompress(np.full((1000, 2), 40), groups, weights, secure()).toarray()
    assert not dealt[:, 3].any() and (dealt[:, 1] == 40).all()
    assert_chi_square(dealt[:, [0, 2, 4]].sum(axis=0), np.array([0.6, 0.3, 0.1]))


def test_groups_without_any_weight_are_dealt_evenly_and_empty_ones_vanish():
    dealt = decompress(np.array([[900, 5]]), np.array([0, 0, 0]), np.zeros(3), secure()).toarray()
    assert dealt.sum() == 900 and dealt.min() > 200  # nine standard deviations


def test_compiled_and_plain_dealing_agree():
    pytest.importorskip("numba")
    groups, weights = secure().below(7, 60), secure().uniforms(60) * (secure().uniforms(60) < 0.7)
    counts = secure().below(9, (40, 7)) * (np.bincount(groups, minlength=7) > 0)
    one, other = (_Dealer(groups, weights, 7, fast=fast).deal(counts, seeded(5)) for fast in (True, False))
    assert (one != other).nnz == 0 and one.sum() == counts.sum()


def test_nothing_is_dealt_from_nothing():
    assert decompress(np.zeros((0, 2), int), np.array([0, 1]), np.ones(2), secure()).shape == (0, 2)
    assert decompress(np.full((3, 2), -4), np.array([0, 1]), np.ones(2), secure()).nnz == 0


def test_groups_are_public_randomness_and_noise_is_not():
    """Groups are drawn before any count is seen; releases with other noise share them."""
    counts = np.ones((2, 40), int)
    mechanism = LimitedPrecision(1.0, compress=4, method="random", prior="uniform", decompress=False).fit(counts)
    groups = mechanism.groups_.copy()
    releases = [mechanism.release(counts, noise=seeded(seed)) for seed in (1, 2)]
    assert all((released.groups == groups).all() for released in releases)
    assert (releases[0].counts != releases[1].counts).any()


def test_counts_that_only_noise_makes_are_shared_out_without_tokens():
    """Each group keeps its count, words get their share of it, and memory does not follow the count."""
    counts = np.array([[2**30, 5, 0], [LARGEST_DEALT + 7, 0, 2**30]])
    groups, weights = np.array([0, 2, 0, 1, 2, 2]), np.array([3.0, 1.0, 1.0, 4.0, 0.0, 1.0])
    words = decompress(counts, groups, weights, seeded(3)).toarray()
    for group in range(3):
        assert (words[:, groups == group].sum(axis=1) == counts[:, group]).all()
    assert np.abs(words[0, [0, 2]] / 2**30 - [0.75, 0.25]).max() < 1e-6
    assert words[1].tolist()[4] == 0
