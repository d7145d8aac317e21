"""Vocabulary and training in one promise: against the accountant, composed by hand."""

from __future__ import annotations

import pytest

from textveil.accounting.accountants import PLD, RDP
from textveil.core import Adjacency, BadInput, Event, GaussianNoise, PoissonSampled, Stated, Unit
from textveil.noise import seeded
from textveil.training.language_model import LanguageModel
from textveil.training.one_budget import one_budget

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


def test_words_are_counted_by_the_declared_unit_though_users_are_known(monkeypatch):
    """Five texts of one user move the counts by the words of five examples; per user they would count as one."""
    texts, users = ["alpha beta", "alpha gamma", "alpha delta", "beta", "beta"], ["u", "u", "u", "v", "v"]
    counted = {}
    for unit in ("example", "user"):
        budget = one_budget(2.0, 1e-5, **FACTS, unit=unit)
        units = []
        monkeypatch.setattr(budget.vocabulary, "apply", lambda data, noise, u=units: u.extend(map(list, data)) or {})
        assert budget.draw_words(texts, users, 10, noise=seeded(1)) == []
        counted[unit] = units
    assert [sorted(unit) for unit in counted["example"]] == [t.split() for t in texts]
    assert [sorted(unit) for unit in counted["user"]] == [
        sorted("alpha beta alpha gamma alpha delta".split()),
        ["beta"] * 2,
    ]


def test_drawn_words_are_a_plain_list_that_can_be_kept():
    budget = one_budget(8.0, 1e-5, vocab_epsilon=6.0, **FACTS)
    texts = [f"common words {n}" for n in range(3000)]
    words = budget.draw_words(texts, None, 1, noise=seeded(1))
    assert type(words) is list and words in (["common"], ["words"])
    model = LanguageModel(words, dimensions=2, hidden=2)
    assert model.word_list() == words
    with pytest.raises(BadInput, match="the list of words is empty"):
        LanguageModel([]).word_list()


def test_the_event_of_private_words_does_not_call_them_public(made):
    model = LanguageModel(["a"], epsilon=1.5, delta=1e-5, also=(made.vocabulary_event,))
    assumed = " ".join(model.event(made.plan).assumes)
    assert "the list of words is priced in the same promise" in assumed and "words is public" not in assumed
