"""Vocabulary and training in one promise: against the accountant, composed by hand."""

from __future__ import annotations

import pytest

from textveil.accounting.accountants import PLD, RDP
from textveil.core import Adjacency, BadInput, Event, GaussianNoise, PoissonSampled, Stated, Unit
from textveil.recipes.one_budget import one_budget

FACTS = {"batch": 200, "examples": 10_000, "steps": 40}


@pytest.fixture(scope="module")
def made():
    return one_budget(1.5, 1e-5, vocab_epsilon=0.5, vocab_delta=4e-6, **FACTS)


def by_hand(tool, vocabulary: float, training: float):
    for noise, times in (
        (GaussianNoise(vocabulary), 1),
        (Stated(0.0, 2e-6), 1),
        (PoissonSampled(200 / 10_000, GaussianNoise(training)), 40),
    ):
        tool.compose(Event(noise, Unit.EXAMPLE, Adjacency.ADD_REMOVE, times=times))
    return tool.epsilon(1e-5)


def test_the_joint_price_is_the_accountants(made):
    vocabulary, training = made.vocabulary.noising().multiplier, made.plan.noise
    assert made.epsilon == pytest.approx(min(by_hand(t, vocabulary, training) for t in (PLD(), RDP())), abs=1e-6)
    assert made.epsilon <= 1.5
    assert by_hand(PLD(), vocabulary, training * 0.98) > 1.5  # no noise to spare


def test_one_event_says_the_same(made):
    tool = PLD().compose(made.event())
    assert tool.epsilon(1e-5) == pytest.approx(made.epsilon, abs=1e-3)
    assert made.event().adjacency is Adjacency.ADD_REMOVE and made.event().unit is Unit.EXAMPLE


def test_it_costs_less_than_the_sum_and_more_than_training_alone(made):
    alone = made.plan.epsilon(1e-5)
    assert alone < made.epsilon < alone + 0.5


def test_what_cannot_be_reached_is_named():
    with pytest.raises(BadInput, match=r"the vocabulary alone costs 0\.\d+, and training comes on top"):
        one_budget(0.3, 1e-5, vocab_epsilon=1.0, **FACTS)


@pytest.mark.parametrize(
    ("more", "why"), [({"sampling": "fixed"}, "no common price"), ({"method": "paper"}, "one word")]
)
def test_what_has_no_joint_promise_is_refused(more, why):
    with pytest.raises(BadInput, match=why):
        one_budget(2.0, 1e-5, **FACTS, **more)
