"""Laws of prices, on random events. The conformance suite holds the accountants to theirs; these hold the price table."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.accounting.accountants import RDP
from textveil.accounting.conversion import gaussian_delta, gaussian_epsilon
from textveil.accounting.draws import draws_of
from textveil.accounting.prices import price, total
from textveil.core import (
    Adjacency,
    Approx,
    CountNoise,
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

multipliers = st.floats(0.3, 50)
epsilons = st.floats(1e-3, 10)
counts = st.integers(1, 6)
sum_adjacencies = st.sampled_from([Adjacency.ADD_REMOVE, Adjacency.REPLACE, Adjacency.ZERO_OUT])
adding = st.one_of(
    st.builds(LaplaceNoise, multipliers),
    st.builds(Stated, epsilons, st.floats(0, 1e-6)),
    st.builds(PoissonSampled, st.floats(0.001, 0.999), st.builds(LaplaceNoise, multipliers)),
)
plain = st.builds(GaussianNoise, multipliers)
metric = st.one_of(
    st.builds(MetricNoise, epsilons, st.just("hamming")),
    st.builds(CountNoise, epsilons, st.just(7), st.floats(0, 1e-6)),
)


def _same(a, b):
    assert type(a) is type(b)
    assert a.epsilon == pytest.approx(b.epsilon, rel=1e-9)
    assert getattr(a, "delta", 0) == pytest.approx(getattr(b, "delta", 0), rel=1e-9)


@given(noise=st.one_of(adding, plain), adjacency=sum_adjacencies, times=counts)
def test_n_at_once_cost_what_n_one_by_one_cost(noise, adjacency, times):
    one = Event(noise, Unit.EXAMPLE, adjacency)
    at_once = price(Event(noise, Unit.EXAMPLE, adjacency, times=times), delta=1e-4)
    _same(at_once, total([one] * times, delta=1e-4))
    _same(at_once, price(Event(Together((RepeatedNoise(noise, times),)), Unit.EXAMPLE, adjacency), delta=1e-4))


@given(noise=metric, times=counts)
def test_n_metric_draws_at_once_cost_what_n_one_by_one_cost(noise, times):
    one = Event(noise, Unit.WORD, Adjacency.METRIC)
    _same(price(Event(noise, Unit.WORD, Adjacency.METRIC, times=times)), total([one] * times))


@given(noises=st.lists(st.one_of(adding, plain), min_size=2, max_size=5), data=st.data())
def test_the_order_of_events_does_not_matter(noises, data):
    events = [Event(noise, Unit.USER, Adjacency.REPLACE) for noise in noises]
    shuffled = data.draw(st.permutations(events))
    _same(total(events, delta=1e-3, accountant=RDP()), total(shuffled, delta=1e-3, accountant=RDP()))


@given(noises=st.lists(adding, min_size=1, max_size=4), extra=adding)
def test_another_release_never_makes_the_total_smaller(noises, extra):
    before, after = (
        total([Event(n, Unit.USER, Adjacency.ADD_REMOVE) for n in some]) for some in (noises, [*noises, extra])
    )
    assert isinstance(after, Approx) and after.covers(before)


@given(multiplier=multipliers, more=st.floats(1.0, 10), adjacency=sum_adjacencies, times=counts)
def test_more_noise_never_costs_more(multiplier, more, adjacency, times):
    for kind in (GaussianNoise, LaplaceNoise):
        loud, quiet = (
            price(Event(kind(m), Unit.USER, adjacency, times=times), delta=1e-5).epsilon
            for m in (multiplier * more, multiplier)
        )
        assert loud <= quiet * (1 + 1e-9)


@given(multiplier=multipliers)
def test_replacing_costs_what_twice_the_contribution_costs(multiplier):
    for kind in (GaussianNoise, LaplaceNoise):
        replaced = price(Event(kind(2 * multiplier), Unit.USER, Adjacency.REPLACE), delta=1e-5)
        added = price(Event(kind(multiplier), Unit.USER, Adjacency.ADD_REMOVE), delta=1e-5)
        assert replaced.epsilon == pytest.approx(added.epsilon, rel=1e-9)


@given(noise=st.one_of(plain, st.builds(LaplaceNoise, multipliers)), size=st.integers(1, 1000), times=counts)
def test_sampling_everyone_is_no_sampling(noise, size, times):
    for adjacency in (Adjacency.REPLACE, Adjacency.ZERO_OUT):
        bare = draws_of(Event(noise, Unit.USER, adjacency, times=times))
        for everyone in (PoissonSampled(1, noise), FixedSampled(size, size, noise)):
            assert draws_of(Event(everyone, Unit.USER, adjacency, times=times)) == bare


@given(mu=st.floats(1e-3, 30), delta=st.floats(1e-12, 0.5))
def test_the_exact_epsilon_keeps_its_delta(mu, delta):
    epsilon = gaussian_epsilon(mu, delta)
    assert gaussian_delta(mu, epsilon) <= delta * (1 + 1e-12)
    assert epsilon == 0 or gaussian_delta(mu, epsilon * (1 - 1e-6)) > delta * (1 - 1e-6)


@settings(max_examples=15, deadline=None)
@given(rate=st.floats(0.01, 0.5), more=st.floats(1.0, 2.0), multiplier=st.floats(0.7, 5))
def test_a_larger_sample_never_costs_less(rate, more, multiplier):
    costs = [
        RDP((2, 4, 8, 16, 32))
        .compose(Event(PoissonSampled(q, GaussianNoise(multiplier)), Unit.USER, Adjacency.ADD_REMOVE, times=10))
        .epsilon(1e-5)
        for q in (rate, min(rate * more, 0.999))
    ]
    assert costs[0] <= costs[1] * (1 + 1e-9) and math.isfinite(costs[1])
