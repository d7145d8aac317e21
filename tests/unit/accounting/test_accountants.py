"""Accountants against published values, exact formulas, and a slow oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from textveil.accounting.accountants import PLD, RDP, Best, ClassicRDP, Exact, accountant
from textveil.accounting.conversion import gaussian_delta, gaussian_epsilon, gaussian_mu
from textveil.core import (
    Adjacency,
    BadInput,
    BadParameter,
    CannotAdd,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    PoissonSampled,
    RepeatedNoise,
    Stated,
    Together,
    Unit,
    UnknownName,
)
from textveil.testing.floors import plain_floor, sampled_floor, zero_out_floor

ADD, REPLACE, ZERO = Adjacency.ADD_REMOVE, Adjacency.REPLACE, Adjacency.ZERO_OUT
EXAMPLES, EPOCHS = 14_041, 10


def event(noise, adjacency=ADD, times=1):
    return Event(noise, Unit.EXAMPLE, adjacency, times=times)


def training(batch, multiplier=1.0):
    steps = math.ceil(EPOCHS * EXAMPLES / batch)
    return event(PoissonSampled(batch / EXAMPLES, GaussianNoise(multiplier)), times=steps)


@pytest.mark.parametrize(
    ("batch", "name", "epsilon", "within"),
    [
        (1, "rdp-classic", 0.688, 5e-4),
        (1, "rdp", 0.461, 5e-4),
        (1, "pld", 0.122, 5e-4),
        (32, "rdp-classic", 1.38, 5e-3),
        (32, "rdp", 1.05, 5e-3),
        (32, "pld", 0.762, 5e-4),
    ],
)
def test_regression_of_the_tagger_of_paper_08(batch, name, epsilon, within):
    assert accountant(name).compose(training(batch)).epsilon(1e-5) == pytest.approx(epsilon, abs=within)


def test_the_floor_of_a_grid_that_ends_at_512_is_noticed():
    classic = ClassicRDP().compose(training(1, multiplier=50.0))
    assert classic.epsilon(1e-5) == pytest.approx(math.log(1e5) / 511, rel=1e-2) == pytest.approx(0.0225, abs=2e-4)
    assert classic.best_order(1e-5) == 512
    assert classic.at_edge(1e-5)
    assert "edge of the grid" in classic.notes(1e-5)[0]
    assert not ClassicRDP().compose(training(1)).at_edge(1e-5)


def test_best_is_the_smaller_and_says_whose_answer_it_is():
    best = Best().compose(training(32)).read(1e-5)
    assert (best.accountant, best.notes) == ("pld", ())
    assert best.epsilon == PLD().compose(training(32)).epsilon(1e-5) < RDP().compose(training(32)).epsilon(1e-5)


def test_best_refines_the_grid_while_pld_is_above_rdp():
    coarse = event(PoissonSampled(1e-4, GaussianNoise(10.0)), times=100_000)
    pld, rdp = (tool.compose(coarse).epsilon(1e-6) for tool in (PLD(), RDP()))
    assert pld > rdp
    assert Best().compose(coarse).epsilon(1e-6) <= rdp


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.1])
@pytest.mark.parametrize(("multiplier", "adjacency", "times"), [(1.0, ADD, 1), (2.0, REPLACE, 1), (9.0, ZERO, 40)])
def test_pld_is_the_analytic_gaussian_up_to_its_grid_and_never_below(multiplier, adjacency, times, delta):
    plain = event(GaussianNoise(multiplier), adjacency, times)
    mu = (2 if adjacency is REPLACE else 1) * math.sqrt(times) / multiplier
    pld, floor = PLD(1e-3).compose(plain).epsilon(delta), plain_floor(mu, delta)
    assert floor * (1 - 1e-9) <= pld <= floor + 2e-3
    assert floor <= Exact().compose(plain).epsilon(delta) <= floor + 1e-7
    assert floor <= RDP().compose(plain).epsilon(delta)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.1, 0.05), (1.0, 1.0), (3.0, 0.0), (8.0, 40.0)])
def test_gaussian_delta_is_the_hockey_stick_divergence(mu, epsilon):
    def excess(x):
        return max(0.0, norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x))

    cut = epsilon / mu + mu / 2
    assert gaussian_delta(mu, epsilon) == pytest.approx(quad(excess, cut, cut + 20, epsabs=1e-16)[0], rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.3])
def test_mu_and_epsilon_invert_each_other_towards_privacy(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert epsilon * (1 - 1e-6) <= gaussian_epsilon(mu, delta) <= epsilon
    assert gaussian_delta(mu, epsilon) <= delta


def test_the_renyi_curve_of_poisson_sampling_is_the_divergence_of_the_mixture():
    """Exact at whole orders; between them dp-accounting's series takes absolute values, and so lies a little above."""
    rate, multiplier, orders = 0.2, 1.3, (2.0, 3.5, 5.0)
    curve = RDP(orders).compose(event(PoissonSampled(rate, GaussianNoise(multiplier)))).curve()

    def moment(order):
        def term(x):
            ratio = 1 - rate + rate * math.exp((2 * x - 1) / (2 * multiplier**2))
            return norm.pdf(x, scale=multiplier) * ratio**order

        return math.log(quad(term, -40, 60, points=[0, 5])[0]) / (order - 1)

    truth = [moment(a) for a in orders]
    assert curve[::2] == pytest.approx(truth[::2], rel=1e-6)
    assert truth[1] <= curve[1] <= truth[1] * 1.01


def test_the_renyi_curve_of_fixed_size_sampling_uses_sensitivity_2c():
    """At order 2 the theorem reads ln(1 + q^2 min(4 (e^r - 1), 2 e^r)), r the divergence of order 2 at 2C."""
    rate, multiplier = 0.1, 3.0
    r = 2 * (2 / multiplier) ** 2 / 2
    expected = math.log1p(rate**2 * min(4 * math.expm1(r), 2 * math.exp(r)))
    curve = RDP((2.0, 2.5, 3.0)).compose(event(FixedSampled(100, 10, GaussianNoise(multiplier)), REPLACE)).curve()
    assert curve[0] == pytest.approx(expected, rel=1e-9)
    assert 1.5 * curve[1] == pytest.approx((curve[0] + 2 * curve[2]) / 2)  # a straight line between whole orders


def test_zero_out_with_fixed_size_costs_more_than_its_own_shift():
    """The counterexample of draws.py: priced with C, one draw promises less than the two worlds differ."""
    one = event(FixedSampled(1000, 50, GaussianNoise(0.7)), ZERO)
    floor = zero_out_floor(0.05, 0.7, 1e-5)
    with_c = RDP().compose(event(FixedSampled(1000, 50, GaussianNoise(1.4)), ZERO)).epsilon(1e-5)
    assert with_c < floor <= RDP().compose(one).epsilon(1e-5)


def test_floors_are_the_integrals_they_claim_to_be():
    rate, m, epsilon = 0.05, 0.7, 1.3

    def delta(p, q):
        return quad(lambda x: max(0.0, p(x) - math.exp(epsilon) * q(x)), -10, 15, limit=400, epsabs=1e-14)[0]

    def n(centre):
        return lambda x: norm.pdf(x, centre, m)

    def mix(a, b):
        return lambda x: (1 - rate) * a(x) + rate * b(x)

    assert sampled_floor(rate, 1 / m, delta(mix(n(0), n(1)), n(0))) == pytest.approx(epsilon, rel=1e-4)
    assert zero_out_floor(rate, m, delta(mix(n(-1), n(1)), mix(n(-1), n(0)))) == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.parametrize("times", [1, 3])
def test_pld_of_poisson_under_replace_dominates_random_pairs(times):
    """A slow oracle: the hockey-stick divergence of pairs of worlds, u and v anywhere within the clip, by convolution."""
    rate, multiplier, delta = 0.3, 1.2, 1e-3
    promised = PLD(1e-3).compose(event(PoissonSampled(rate, GaussianNoise(multiplier)), REPLACE, times)).epsilon(delta)
    x = np.linspace(-12, 12, 601)
    reached = []
    for u, v in ((1, -1), (1, 0), (1, 1), (0.5, -1), (-0.3, 0.9), (1, -0.5)):
        p, q = ((1 - rate) * norm.pdf(x, 0, multiplier) + rate * norm.pdf(x, c, multiplier) for c in (u, v))
        reached.append(_joint_delta(p * (x[1] - x[0]), q * (x[1] - x[0]), times, promised))
    assert max(reached) <= delta * (1 + 1e-3)
    assert reached[0] == max(reached) >= delta * 0.9  # the pair +C, -C is the worst, and the price is tight there


def _joint_delta(p, q, times, epsilon):
    """Mass of (P - e^eps Q)+ for `times` independent draws, on a grid of the log ratio fine enough for the test."""
    loss = np.log(p / q)
    step = 2e-3
    lowest = math.floor(loss.min() / step)
    histogram = np.bincount(np.rint(loss / step).astype(int) - lowest, weights=p)
    joint = histogram
    for _ in range(times - 1):
        joint = np.convolve(joint, histogram)
    losses = (np.arange(len(joint)) + times * lowest) * step
    return float(np.sum(joint * np.maximum(0.0, -np.expm1(epsilon - losses))))


def test_pld_sets_aside_what_the_fft_loses():
    """At a rate next to 1 the answer must not fall below the plain Gaussian's; the bare FFT prints 7.46 for 7.67."""
    almost_plain = event(PoissonSampled(1 - 1e-9, GaussianNoise(300.0)), times=100_000)
    floor = plain_floor(math.sqrt(100_000) / 300, 1e-12)
    assert PLD().compose(almost_plain).epsilon(1e-12) >= floor * (1 - 1e-4)
    assert RDP().compose(almost_plain).epsilon(1e-12) < math.inf


def test_pure_draws_compose_better_than_their_sum_and_never_worse():
    many = event(LaplaceNoise(20.0), times=100)  # epsilon 0.05, a hundred times
    for tool in (PLD(1e-3), RDP(), Best()):
        assert tool.compose(many).epsilon(1e-6) < 5.0
    assert PLD(1e-3).compose(event(LaplaceNoise(20.0))).epsilon(0.0) == pytest.approx(0.05)


def test_stated_delta_is_taken_off_and_never_overdrawn():
    both = event(Together((RepeatedNoise(GaussianNoise(2.0)), RepeatedNoise(Stated(0.25, 4e-6)))))
    exact = Exact().compose(both)
    assert exact.epsilon(1e-5) == pytest.approx(0.25 + plain_floor(0.5, 6e-6), rel=1e-6)
    assert exact.epsilon(3e-6) == math.inf


def test_vocabulary_and_training_compose_in_one_accountant():
    vocabulary, model = event(GaussianNoise(5.0)), training(32, 1.5)
    joint = Best(1e-3).compose(vocabulary).compose(model).epsilon(1e-5)
    apart = [Best(1e-3).compose(e).epsilon(5e-6) for e in (vocabulary, model)]
    assert max(apart) < joint < sum(apart)


def test_samplers_and_accountants_that_do_not_match_are_refused():
    fixed, poisson = (
        event(noise, REPLACE)
        for noise in (FixedSampled(100, 5, GaussianNoise(1.0)), PoissonSampled(0.05, GaussianNoise(1.0)))
    )
    for tool, refused in ((PLD(), fixed), (RDP(), poisson), (Exact(), fixed)):
        assert not tool.supports(refused)
        with pytest.raises(BadInput, match="no price"):
            tool.compose(refused)
        assert tool.epsilon(1e-6) == 0
    with pytest.raises(BadInput, match="all of them together"):
        Best().compose(fixed).compose(poisson)


def test_one_accountant_answers_one_question():
    held = Exact().compose(event(GaussianNoise(1.0)))
    with pytest.raises(CannotAdd):
        held.compose(event(GaussianNoise(1.0), REPLACE))


def test_absurdly_little_noise_is_a_bound_and_no_crash():
    for adjacency in (ADD, REPLACE):
        cost = Best().compose(event(PoissonSampled(0.01, GaussianNoise(0.01)), adjacency, 1000)).epsilon(1e-6)
        assert cost > 1e4


def test_accountants_by_name():
    assert accountant("rdp-classic").name == "rdp-classic"
    with pytest.raises(UnknownName, match="there are: pld"):
        accountant("plt")
    with pytest.raises(BadInput, match="above 1"):
        RDP((0.5, 2.0))


@pytest.mark.parametrize("epsilon", [1e13, 1e100, 1e308])
def test_an_epsilon_beyond_all_sense_is_refused_in_a_sentence(epsilon):
    with pytest.raises(BadParameter, match="epsilon must be at most"):
        gaussian_mu(epsilon, 1e-6)
