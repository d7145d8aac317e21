"""How far one unit can move a round, exactly: with the noise held fixed (a seed), the difference of two runs is its part."""

from __future__ import annotations

import numpy as np
import pytest
from unit.federated.small import SIZE, one_round

from textveil.core import BadInput
from textveil.federated import RoundPlan

C, M = 0.5, 4
RNG = np.random.default_rng(3)
OTHERS = [[RNG.normal(size=SIZE)] for _ in range(M)]
LARGE = [RNG.normal(size=SIZE) * scale for scale in (1e-9, 1.0, 1e6, 1e30)]


def everybody(**more):
    """Everybody takes part, so that two worlds differ by the unit's own update alone."""
    return RoundPlan(users=M, per_round=M, rounds=1, clip=C, noise=1.0, **more)


def moved(first, second, plan):
    with_one, without = one_round(first, plan), one_round(second, plan)
    return float(np.linalg.norm(with_one.weights.astype(float) - without.weights))


@pytest.mark.parametrize("clipping", ["flat", "per-layer"])
@pytest.mark.parametrize("update", LARGE)
def test_removing_a_unit_moves_the_mean_by_at_most_its_clip(update, clipping):
    plan = everybody(sampling="poisson", clipping=clipping)
    units = [*OTHERS[:-1], [update]]
    assert moved(units, [*OTHERS[:-1], []], plan) <= C / M * (1 + 1e-5)  # an empty unit is one that is not there


@pytest.mark.parametrize("sampling", ["fixed", "poisson"])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_replacing_an_update_by_its_opposite_moves_it_by_twice_the_clip_and_no_more(sampling, scale):
    plan = everybody(sampling=sampling)
    update = np.ones(SIZE) * scale
    distance = moved([*OTHERS[:-1], [update]], [*OTHERS[:-1], [-update]], plan)
    assert distance == pytest.approx(2 * C / M, rel=1e-4)


def test_more_examples_give_no_more_influence():
    plan = everybody(weighting="capped", cap=2)
    long = [np.ones(SIZE)] * 50  # full weight
    short = [np.ones(SIZE)]  # half of it
    assert moved([*OTHERS[:-1], long], [*OTHERS[:-1], []], plan) <= C / M * (1 + 1e-5)
    assert moved([*OTHERS[:-1], short], [*OTHERS[:-1], []], plan) == pytest.approx(C / M / 2, rel=1e-3)


def test_weights_by_examples_have_no_price():
    with pytest.raises(BadInput, match="without bound"):
        everybody(weighting="examples")


def test_a_zero_update_stays_zero_and_divides_nothing():
    quiet = RoundPlan(users=2, per_round=2, rounds=1, clip=C)
    state = one_round([[np.zeros(SIZE)], [np.zeros(SIZE)]], quiet)
    assert state.weights.tolist() == [0.0] * SIZE and state.refused == {}


def test_parameters_without_dimensions_learn_and_get_noise():
    plan = RoundPlan(users=1, per_round=1, rounds=1, clip=10.0)
    update = np.arange(1.0, SIZE + 1)
    assert one_round([[update]], plan).weights.tolist() == pytest.approx(update.tolist())
    noisy = one_round([[update]], plan.with_noise(1.0))
    assert (noisy.weights != update.astype(np.float32)).all()


@pytest.mark.parametrize("bad", [np.full(SIZE, np.nan), np.full(SIZE, np.inf), ValueError("text of a user")])
def test_a_unit_that_fails_is_left_out_and_moves_nobody_else(bad):
    plan = everybody()
    state = one_round([*OTHERS[:-1], [bad]], plan)
    assert np.array_equal(state.weights, one_round([*OTHERS[:-1], []], plan).weights)
    assert list(state.refused.values()) == [1] and "text of" not in str(state.refused)


def test_an_empty_poisson_round_is_noise_alone():
    plan = RoundPlan(users=10**9, per_round=1, rounds=1, sampling="poisson", clip=C, noise=1.0)
    from unit.federated.small import federation_of, grid_of, run

    from textveil.federated import FreeBook
    from textveil.noise import seeded

    state = run(grid_of(OTHERS), federation_of(plan, present=4), FreeBook(seeded(1)))
    assert (state.weights != 0).all()
