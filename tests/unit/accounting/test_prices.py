"""Prices of single events and of several, against closed forms."""

from __future__ import annotations

import math

import pytest

from textveil.accounting.draws import PureDraw, amplified, draws_of, joint_multiplier
from textveil.accounting.prices import guarantee_of, mu_of, price, total, zcdp
from textveil.core import (
    ZCDP,
    Adjacency,
    Approx,
    BadInput,
    CannotAdd,
    CountNoise,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    LimitedPrecision,
    Measured,
    Metric,
    MetricNoise,
    NoPromise,
    PoissonSampled,
    Pure,
    RepeatedNoise,
    Stated,
    Together,
    Unit,
    Unpriced,
)
from textveil.testing.floors import plain_floor

ADD, REPLACE, ZERO = Adjacency.ADD_REMOVE, Adjacency.REPLACE, Adjacency.ZERO_OUT


def event(noise, adjacency=ADD, times=1, unit=Unit.EXAMPLE):
    return Event(noise, unit, adjacency, times=times)


def test_metric_noise_costs_epsilon_per_distance_and_draw():
    noise = MetricNoise(0.5, "hamming", "ab12", diameter=256)
    assert price(event(noise, Adjacency.METRIC, 3)) == Metric(1.5, "hamming", "ab12", 256)


def test_count_noise_keeps_its_precision_and_multiplies_both_numbers():
    assert price(event(CountNoise(1.0, 10, 1e-9), Adjacency.METRIC, 4)) == LimitedPrecision(4.0, 10, 4e-9)


def test_metric_losses_of_one_metric_add_and_of_two_do_not():
    one, other = (event(MetricNoise(1.0, name), Adjacency.METRIC) for name in ("hamming", "euclidean"))
    assert total([one, one]).epsilon == 2.0
    with pytest.raises(CannotAdd):
        total([one, other])


def test_stated_promises_add():
    assert price(event(Stated(0.5, 1e-7), times=2)) == Approx(1.0, 2e-7)
    assert price(event(Stated(0.5), times=2)) == Pure(1.0)


@pytest.mark.parametrize("loss", [NoPromise("no theorem"), Measured(1.0, 0.0, "fitted law")])
def test_what_has_no_price_keeps_its_loss_however_often(loss):
    assert price(event(Unpriced(loss), times=7)) is loss


@pytest.mark.parametrize(("adjacency", "factor"), [(ADD, 1), (ZERO, 1), (REPLACE, 2)])
def test_the_sensitivity_follows_from_the_adjacency(adjacency, factor):
    assert price(event(LaplaceNoise(4.0), adjacency)) == Pure(factor / 4)
    assert mu_of([event(GaussianNoise(4.0), adjacency, 9)]) == pytest.approx(factor * 3 / 4)
    assert zcdp([event(GaussianNoise(4.0), adjacency)]) == ZCDP((factor / 4) ** 2 / 2)


def test_plain_gaussians_cost_the_exact_epsilon():
    loss = price(event(GaussianNoise(2.0), REPLACE, 9), delta=1e-6)
    floor = plain_floor(3.0, 1e-6)
    assert floor <= loss.epsilon <= floor * (1 + 1e-6)
    assert (loss.kind, loss.delta) == ("approx", 1e-6)


def test_gaussian_noise_without_delta_is_refused():
    with pytest.raises(BadInput, match="priced at a delta"):
        price(event(GaussianNoise(1.0)))


def test_threshold_delta_is_taken_off_before_the_gaussian_is_read():
    vocabulary = Together((RepeatedNoise(GaussianNoise(2.0)), RepeatedNoise(Stated(0.0, 4e-7))))
    assert price(event(vocabulary), delta=1e-6).epsilon == pytest.approx(plain_floor(0.5, 6e-7), rel=1e-6)
    with pytest.raises(BadInput, match="use up delta"):
        price(event(vocabulary), delta=3e-7)


def test_fixed_size_sampling_has_no_add_remove_price():
    with pytest.raises(BadInput, match="add_remove"):
        price(event(FixedSampled(100, 10, GaussianNoise(1.0))), delta=1e-5)


@pytest.mark.parametrize(
    "inner", [Stated(1.0, 1e-5), Together((RepeatedNoise(GaussianNoise(1.0)), RepeatedNoise(LaplaceNoise(1.0))))]
)
def test_a_sampling_step_is_refused_where_no_theorem_covers_what_is_inside(inner):
    with pytest.raises(BadInput, match="sampling step"):
        price(event(PoissonSampled(0.1, inner)), delta=1e-4)


@pytest.mark.parametrize("adjacency", [ADD, REPLACE, ZERO])
def test_sampled_laplace_is_pure_and_amplified(adjacency):
    factor = 2 if adjacency is REPLACE else 1
    loss = price(event(PoissonSampled(0.01, LaplaceNoise(2.0)), adjacency))
    assert loss.kind == "pure"
    assert loss.epsilon == pytest.approx(math.log(1 + 0.01 * (math.exp(factor / 2) - 1)))


def test_amplification_does_not_overflow():
    assert amplified(1000.0, 0.5) == pytest.approx(1000 + math.log(0.5))
    assert amplified(30.001, 0.3) == pytest.approx(math.log1p(0.3 * math.expm1(30.001)))


def test_draws_on_the_same_sample_are_joined_before_sampling():
    inner = Together((RepeatedNoise(GaussianNoise(2.0), 4), RepeatedNoise(GaussianNoise(1.0))))
    joined = draws_of(event(PoissonSampled(0.1, inner)))
    assert joined == draws_of(event(PoissonSampled(0.1, GaussianNoise(joint_multiplier([(2.0, 4), (1.0, 1)])))))
    assert joint_multiplier([(2.0, 4), (1.0, 1)]) == pytest.approx(math.sqrt(0.5))


def test_nested_counts_multiply():
    nested = Together((RepeatedNoise(Together((RepeatedNoise(LaplaceNoise(1.0), 2),)), 3),))
    assert draws_of(event(nested, times=5)) == {PureDraw(1.0): 30}


def test_other_units_and_adjacencies_have_no_joint_price():
    for other in (event(LaplaceNoise(1.0), REPLACE), event(LaplaceNoise(1.0), unit=Unit.USER)):
        with pytest.raises(CannotAdd, match="no joint price"):
            total([event(LaplaceNoise(1.0)), other])
    with pytest.raises(BadInput, match="no event"):
        total([])


def test_an_empty_together_has_no_price():
    with pytest.raises(BadInput, match="no price"):
        price(event(Together(())), delta=1e-5)


def test_the_guarantee_carries_everything_of_the_event():
    promised = Event(
        MetricNoise(0.5, "hamming", "id"), Unit.WORD, Adjacency.METRIC, assumes=("public codes",), source="theorem 3"
    )
    made = guarantee_of(promised)
    assert (made.loss, made.unit, made.adjacency) == (Metric(0.5, "hamming", "id"), Unit.WORD, Adjacency.METRIC)
    assert (made.assumes, made.source, made.label) == (("public codes",), "theorem 3", "guarantee")
