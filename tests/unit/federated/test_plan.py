"""Prices of federated plans: against closed forms, against each other, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from textveil.accounting.conversion import gaussian_epsilon
from textveil.accounting.draws import draws_of
from textveil.core import BadInput
from textveil.federated import RoundPlan, calibrated
from textveil.federated.tree import TreeSums, blocks_of
from textveil.noise import seeded

BASE = {"users": 100, "per_round": 10, "rounds": 20, "clip": 1.0, "noise": 2.0}


def test_everybody_in_every_round_is_plain_gaussian_noise_with_twice_the_clip():
    plan = RoundPlan(**{**BASE, "per_round": 100})
    assert plan.price(1e-5) == pytest.approx(gaussian_epsilon(math.sqrt(20) * 2 / 2.0, 1e-5), rel=1e-3)


def test_poisson_rounds_cost_less_than_fixed_ones():
    assert RoundPlan(**BASE, sampling="poisson").price(1e-5) < RoundPlan(**BASE).price(1e-5)


def test_the_quantile_of_adaptive_clipping_is_paid_for():
    flat, adaptive = RoundPlan(**BASE), RoundPlan(**BASE, clipping="adaptive")
    assert adaptive.update_noise > adaptive.noise  # the bits take their part
    (flat_draw,), (joint_draw,) = draws_of(flat.round_event()), draws_of(adaptive.round_event())
    assert joint_draw.multiplier == pytest.approx(flat_draw.multiplier, rel=1e-12)  # so that both together cost `noise`


@pytest.mark.parametrize("rounds", range(1, 20))
def test_a_tree_costs_as_many_sums_as_its_deepest_round_stands_in(rounds):
    """By enumeration: every block that any prefix uses, and how many of them hold each round."""
    blocks = set(itertools.chain.from_iterable(blocks_of(t) for t in range(1, rounds + 1)))
    depth = [sum(start <= r < start + (1 << level) for start, level in blocks) for r in range(rounds)]
    plan = RoundPlan(users=rounds, per_round=1, rounds=rounds, sampling="in-turn", clip=1.0, noise=1.0)
    assert plan.tree_event(rounds).times == max(depth) == plan.event().times


def test_a_tree_draws_noise_once_a_round_and_its_prefixes_have_few_of_them():
    tree, noises, last = TreeSums(2000), [], 0.0
    for t in range(1, 17):
        prefix = tree.add(np.zeros(2000, np.float32), 1.0, seeded(t))
        assert np.var(prefix) == pytest.approx(bin(t).count("1"), rel=0.2)  # 2,000 normals: 6 deviations
        noises.append(prefix - last)
        last = prefix
    assert TreeSums.load(2000, tree.state()).rounds == 16


def test_trees_begin_anew_when_everybody_had_a_turn_and_compose():
    plan = RoundPlan(users=8, per_round=2, rounds=10, sampling="in-turn", clip=1.0, noise=2.0)
    assert plan.trees() == [4, 4, 2] and plan.event().times == 3 + 3 + 2
    assert plan.price(1e-5) == pytest.approx(gaussian_epsilon(math.sqrt(8) / 2.0, 1e-5), rel=1e-3)


def test_calibration_errs_towards_privacy():
    plan = calibrated(RoundPlan(users=1000, per_round=50, rounds=20, clip=1.0), 4.0, 1e-4)
    assert 3.9 < plan.price(1e-4) <= 4.0 < plan.with_noise(plan.noise * 0.98).price(1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"per_round": 101}, "at most the 100 users"),
        ({"clip": None}, "multiple of the clip"),
        ({"weighting": "examples"}, "without bound"),
        ({"sampling": "cycle"}, "no round of sums"),
        ({"sampling": "with-replacement"}, "fixed"),
        ({"sampling": "in-turn", "clipping": "adaptive"}, "sampled rounds"),
        ({"unit": "word"}, "user or client"),
    ],
)
def test_what_has_no_price_is_refused(change, message):
    with pytest.raises(BadInput, match=message):
        RoundPlan(**{**BASE, **change})
