"""Calibration errs only towards privacy, and says what can be reached when the target cannot."""

from __future__ import annotations

import pytest

from textveil.accounting.accountants import RDP
from textveil.accounting.calibration import calibrate, gaussian_multiplier, laplace_multiplier
from textveil.accounting.conversion import gaussian_delta
from textveil.accounting.prices import price
from textveil.core import (
    Adjacency,
    BadInput,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    MetricNoise,
    PoissonSampled,
    RepeatedNoise,
    Stated,
    Together,
    Unit,
)

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE


def gaussian(multiplier, adjacency=ADD, times=1):
    return Event(GaussianNoise(multiplier), Unit.USER, adjacency, times=times)


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize("target", [0.05, 1.0, 12.0])
def test_bisection_finds_the_analytic_multiplier_from_above(target, adjacency):
    found = calibrate(lambda m: gaussian(m, adjacency), target, 1e-6)
    exact = gaussian_multiplier(target, 1e-6, adjacency)
    assert exact <= found <= exact * 1.001
    assert price(gaussian(found, adjacency), delta=1e-6).epsilon <= target


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5])
def test_the_gaussian_multiplier_keeps_its_promise_and_wastes_nothing(epsilon, delta):
    multiplier = gaussian_multiplier(epsilon, delta)
    assert price(gaussian(multiplier), delta=delta).epsilon <= epsilon
    assert gaussian_delta(1 / multiplier, epsilon) <= delta < gaussian_delta(1.001 / multiplier, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1 / 3, 1e-5, 49.0])
@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_the_laplace_multiplier_is_rounded_towards_privacy(epsilon, adjacency):
    multiplier = laplace_multiplier(epsilon, adjacency)
    assert price(Event(LaplaceNoise(multiplier), Unit.USER, adjacency)).epsilon <= epsilon
    assert calibrate(lambda m: Event(LaplaceNoise(m), Unit.USER, adjacency), epsilon, bracket=(1e-3, 1e7)) >= multiplier


@pytest.mark.parametrize(
    ("sampled", "adjacency"),
    [
        (lambda noise: PoissonSampled(0.02, noise), ADD),
        (lambda noise: FixedSampled(1000, 20, noise), REPLACE),
    ],
)
def test_a_training_plan_is_calibrated_and_priced_again(sampled, adjacency):
    def plan(multiplier):
        return Event(sampled(GaussianNoise(multiplier)), Unit.EXAMPLE, adjacency, times=100)

    found = calibrate(plan, 2.0, 1e-5, tolerance=0.01, accountant=lambda: RDP((2, 3, 4, 6, 8, 12, 16, 32)))
    costs = [RDP((2, 3, 4, 6, 8, 12, 16, 32)).compose(plan(found * by)).epsilon(1e-5) for by in (1.0, 0.985)]
    assert costs[0] <= 2.0 < costs[1]


def test_vocabulary_and_training_share_one_target():
    def plan(multiplier):
        return Event(
            Together((RepeatedNoise(GaussianNoise(multiplier)), RepeatedNoise(Stated(0.5, 1e-7)))), Unit.EXAMPLE, ADD
        )

    found = calibrate(plan, 1.0, 1e-6)
    assert found == pytest.approx(gaussian_multiplier(0.5, 9e-7), rel=1e-3)


def test_an_unreachable_target_says_what_can_be_reached():
    with pytest.raises(BadInput, match=r"epsilon 0.001 cannot be reached.*smallest epsilon is 0\.3969"):
        calibrate(gaussian, 0.001, 1e-6, bracket=(0.1, 10.0))


def test_a_target_that_the_least_noise_keeps_gives_the_least_noise():
    assert calibrate(gaussian, 1e6, 1e-6, bracket=(0.5, 10.0)) == 0.5


def test_an_accountant_that_changes_its_mind_is_noticed():
    calls = []

    class Counted(RDP):
        def epsilon(self, delta):
            calls.append(delta)
            return super().epsilon(delta)

    class Fickle(Counted):
        def epsilon(self, delta):
            return super().epsilon(delta) + (len(calls) == 2 * honest)  # only the last, repeated price is another one

    calibrate(gaussian, 1.0, 1e-6, tolerance=0.5, accountant=Counted)
    honest = len(calls)
    with pytest.raises(BadInput, match="not reproducible"):
        calibrate(gaussian, 1.0, 1e-6, tolerance=0.5, accountant=Fickle)


@pytest.mark.parametrize("bad", [{"bracket": (2.0, 1.0)}, {"tolerance": 0.0}, {"bracket": (0.0, 1.0)}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(BadInput):
        calibrate(gaussian, 1.0, 1e-6, **bad)


def test_a_loss_in_a_metric_is_not_calibrated_here():
    with pytest.raises(BadInput, match="kind 'metric'"):
        calibrate(lambda m: Event(MetricNoise(m, "hamming"), Unit.WORD, Adjacency.METRIC), 1.0)
