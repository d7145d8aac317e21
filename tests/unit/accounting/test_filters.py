"""Budget checks hold although each charge may depend on earlier results: rules against exact games, and what they take."""

from __future__ import annotations

import functools
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.accounting.filters import RENYI_SHARE, Tally, _curve, _renyi_terms
from textveil.accounting.ledger import Ledger
from textveil.accounting.pld import PLD
from textveil.accounting.prices import price, total
from textveil.core import (
    Adjacency,
    BudgetExceeded,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    PoissonSampled,
    Stated,
    Unit,
)

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE


def user(noise, adjacency=ADD, times=1) -> Event:
    return Event(noise, Unit.USER, adjacency, times=times)


def tally_of(*events: Event) -> Tally:
    return functools.reduce(lambda tally, event: tally.plus(event), events, Tally())


class Game:
    """Coins of losses `coins` (randomized response), thrown in an order that may depend on what they showed."""

    def __init__(self, coins: tuple[float, ...], epsilon: float):
        self.coins, self.epsilon = coins, epsilon

    def planned(self, counts: tuple[int, ...]) -> float:
        """The exact delta of so many coins of each kind, if they were fixed beforehand."""
        throws = [e for e, n in zip(self.coins, counts, strict=True) for _ in range(n)]
        sides = itertools.product((1, -1), repeat=len(throws))
        return math.fsum(self._path(throws, side) for side in sides)

    def _path(self, throws, side) -> float:
        odds = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(side, throws, strict=True))
        return odds * self.excess(math.fsum(s * e for s, e in zip(side, throws, strict=True)))

    def excess(self, loss: float) -> float:
        return max(0.0, 1 - math.exp(self.epsilon - loss))

    def adaptive(self, allowed) -> float:
        """The exact delta against whoever chooses the next coin, or stops, in view of the loss so far."""

        @functools.cache
        def value(counts: tuple[int, ...], loss: float) -> float:
            best = self.excess(loss)
            for kind, e in enumerate(self.coins):
                after = tuple(n + (i == kind) for i, n in enumerate(counts))
                if after in allowed:
                    up = 1 / (1 + math.exp(-e))
                    best = max(
                        best, up * value(after, round(loss + e, 9)) + (1 - up) * value(after, round(loss - e, 9))
                    )
            return best

        return value((0,) * len(self.coins), 0.0)


def test_a_plan_bounds_every_order_and_every_part_of_it():
    game = Game((0.3, 1.0), 1.2)
    plan = (4, 2)
    allowed = set(itertools.product(range(plan[0] + 1), range(plan[1] + 1)))
    assert game.adaptive(allowed) <= game.planned(plan) * (1 + 1e-9)


def test_stopping_at_the_composed_price_is_no_filter():
    """Why the ledger does not do it: with free choice between two kinds, the exact game exceeds the budget's delta."""
    game = Game((0.25, 1.0), 1.5)
    prices = {counts: game.planned(counts) for counts in itertools.product(range(10), range(4))}
    delta = max(prices[9, 0], prices[0, 2], prices[3, 1])
    allowed = {counts for counts, price in prices.items() if price <= delta * (1 + 1e-12)}
    assert game.adaptive(allowed) > delta * 1.01


def test_one_renyi_order_bounds_the_adaptive_game():
    """The rule on coins: whatever is chosen, divergences at one order that sum to r convert to a delta that holds."""
    game, order = Game((0.25, 1.0), 1.5), 6.0

    def divergence(e: float) -> float:
        p = 1 / (1 + math.exp(-e))
        return math.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)

    for most in (0.2, 0.5, 0.9):
        counts = itertools.product(range(10), range(4))
        allowed = {c for c in counts if c[0] * divergence(0.25) + c[1] * divergence(1.0) <= most}
        exponent = (order - 1) * (most - 1.5 + math.log1p(-1 / order)) - math.log(order)
        assert game.adaptive(allowed) <= math.exp(exponent)


def test_sums_hold_path_by_path():
    tally = tally_of(user(LaplaceNoise(1.0)), user(Stated(0.5, 1e-7)), user(Stated(0.5, 1e-7), REPLACE))
    assert tally.fits(2.0, 2.0000001e-7) and not tally.fits(1.99, 1e-6) and not tally.fits(3.0, 1.9e-7)


@pytest.mark.parametrize("noise", [GaussianNoise(1.0), PoissonSampled(0.02, GaussianNoise(1.1))])
def test_a_first_charge_calibrated_to_the_budget_fits_it_exactly(noise):
    event = user(noise, times=1 if isinstance(noise, GaussianNoise) else 300)
    epsilon = price(event, delta=1e-6).epsilon
    assert tally_of(event).fits(epsilon, 1e-6) and not tally_of(event).fits(epsilon * 0.995, 1e-6)
    assert not tally_of(event, user(LaplaceNoise(1000.0))).fits(epsilon * 1.001, 1e-6)  # no room for other kinds


def test_pure_charges_before_the_first_noise_leave_the_rest_of_the_budget():
    event = user(PoissonSampled(0.02, GaussianNoise(1.1)), times=300)
    epsilon = price(event, delta=1e-6).epsilon
    assert tally_of(user(LaplaceNoise(10.0)), event).fits(epsilon + 0.1000001, 1e-6)


def test_kinds_may_be_mixed_within_the_renyi_rule():
    events = [user(PoissonSampled(0.01, GaussianNoise(m)), times=200) for m in (0.9, 1.1, 1.3)]
    events += [user(GaussianNoise(5.0)), user(LaplaceNoise(5.0)), user(Stated(0.1, 1e-8))]
    assert tally_of(*events).fits(6.0, 1e-6)
    assert not tally_of(*events, user(Stated(0.1, 1e-7))).fits(6.0, 1e-6)  # more delta than was set aside


def test_a_charge_within_the_renyi_rule_needs_no_distribution(tmp_path, monkeypatch):
    ledger = Ledger.new(tmp_path / "notes.ledger", unit="user", epsilon=8, delta=1e-6)
    monkeypatch.setattr(PLD, "_cost", None)
    for _ in range(5):
        ledger.charge(user(PoissonSampled(0.01, GaussianNoise(1.0))))


def test_repetitions_go_on_beyond_the_renyi_rule(tmp_path):
    """At nine tenths of delta the plan takes what the distribution allows; the refusal says why."""
    step = user(PoissonSampled(0.1, GaussianNoise(1.0)), times=10)
    epsilon = price(user(step.noise, times=50), delta=0.9e-6).epsilon
    ledger = Ledger.new(tmp_path / "notes.ledger", unit="user", epsilon=epsilon * 1.0001, delta=1e-6)
    for _ in range(5):
        ledger.charge(step)
    with pytest.raises(BudgetExceeded):
        ledger.charge(step)
    with pytest.raises(BudgetExceeded, match="added up more strictly"):
        ledger.charge(user(LaplaceNoise(1000.0)))


@pytest.mark.parametrize("rate, multiplier", [(0.01, 1.0), (0.1, 2.0)])
def test_replaced_units_under_poisson_sampling_are_bounded_through_the_world_without_them(rate, multiplier):
    """The exact divergence of order 2 and 4 of (1-q) N(0) + q N(1) from (1-q) N(0) + q N(-1), by integration."""
    import numpy as np

    from textveil.accounting.draws import GaussianDraw
    from textveil.accounting.rdp import ORDERS

    x = np.linspace(-60, 60, 1_200_001)
    logs = {mean: -((x - mean) ** 2) / (2 * multiplier**2) for mean in (-1, 0, 1)}
    one, other = (np.logaddexp(math.log1p(-rate) + logs[0], math.log(rate) + logs[side]) for side in (1, -1))
    step = (x[1] - x[0]) / (multiplier * math.sqrt(2 * math.pi))
    for order in (2.0, 4.0):
        moment = np.sum(np.exp(order * one + (1 - order) * other)) * step
        bound = _curve(GaussianDraw("poisson", rate, multiplier), REPLACE)[ORDERS.index(order)]
        assert 0 < math.log(moment) / (order - 1) <= bound * (1 + 1e-6)


kinds = st.sampled_from(
    [
        user(PoissonSampled(0.05, GaussianNoise(1.0)), times=20),
        user(PoissonSampled(0.05, GaussianNoise(2.0)), times=50),
        user(GaussianNoise(3.0)),
        user(LaplaceNoise(4.0)),
        user(Stated(0.2, 1e-8)),
    ]
)


@settings(deadline=None, max_examples=15)
@given(st.lists(kinds, min_size=1, max_size=6), st.sampled_from([1.0, 2.0, 4.0]))
def test_what_fits_is_never_above_the_budget_when_it_is_priced_together(events, epsilon):
    taken: list[Event] = []
    for event in events:
        if tally_of(*taken, event).fits(epsilon, 1e-6):
            taken.append(event)
    if taken:
        assert total(taken, delta=1e-6).epsilon <= epsilon * (1 + 1e-4)


def test_fixed_size_sampling_has_a_place_too():
    event = user(FixedSampled(1000, 10, GaussianNoise(4.0)), REPLACE, times=20)
    assert tally_of(event).fits(price(event, delta=1e-6).epsilon, 1e-6)
    first = tally_of(event).first
    assert _renyi_terms(first, 50.0, RENYI_SHARE * 1e-6) is not None
