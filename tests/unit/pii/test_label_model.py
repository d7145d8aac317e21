"""The label model: its posterior by hand, its climb, and what it makes of simulated votes."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from textveil.pii.annotate.label_model import AGAINST, FOR, NOTHING, LabelModel, Voter, fit_label_model

VOTES = (AGAINST, NOTHING, FOR)


def simulated(n: int, right: list[float], speaks: float, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """True classes, and votes of independent voters that are right with these chances."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    votes = np.zeros((n, len(right)), dtype=int)
    for j, chance in enumerate(right):
        says = rng.random(n) < speaks
        correct = rng.random(n) < chance
        votes[:, j] = np.where(says, np.where(correct == truth, 1, -1), 0)
    return truth, votes


def test_the_chance_of_a_pattern_is_bayes_rule_by_enumeration() -> None:
    laws = np.array([[[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]], [[0.4, 0.5, 0.1], [0.2, 0.5, 0.3]]])
    model = LabelModel(0.25, laws)
    for votes in product(VOTES, repeat=2):
        places = [v + 1 for v in votes]
        weights = [p * laws[0, y, places[0]] * laws[1, y, places[1]] for y, p in ((0, 0.75), (1, 0.25))]
        assert model.chance(votes) == pytest.approx(weights[1] / sum(weights))


def test_no_turn_lowers_the_log_posterior() -> None:
    _, votes = simulated(2000, [0.9, 0.7, 0.6, 0.8], 0.8, 0.4, seed=1)
    model = fit_label_model(Counter(map(tuple, votes.tolist())), [Voter(str(j), weight=1.0) for j in range(4)])
    steps = np.diff(model.history)
    assert len(model.history) > 3
    assert (steps > -1e-6).all()


def test_voters_are_told_apart_without_knowing_the_truth() -> None:
    """20,000 candidates: estimates within 0.03 of what was drawn, over six standard errors."""
    right, speaks = [0.95, 0.8, 0.65, 0.75], 0.8
    truth, votes = simulated(20_000, right, speaks, 0.3, seed=2)
    model = fit_label_model(Counter(map(tuple, votes.tolist())), [Voter(str(j)) for j in range(4)])
    assert model.prior == pytest.approx(0.3, abs=0.03)
    for j, chance in enumerate(right):
        assert model.laws[j, 1, 2] / speaks == pytest.approx(chance, abs=0.03)
        assert model.laws[j, 0, 0] / speaks == pytest.approx(chance, abs=0.03)
    chances = np.array([model.chance(tuple(v)) for v in votes[:4000].tolist()])
    assert abs(chances.mean() - truth[:4000].mean()) < 0.05
    best = np.mean((chances > 0.5) == truth[:4000])
    majority = np.mean((votes[:4000].sum(axis=1) > 0) == truth[:4000])
    assert best > majority


def test_a_voter_that_is_worse_than_a_coin_is_found_out() -> None:
    _, votes = simulated(20_000, [0.9, 0.9, 0.9, 0.3], 0.9, 0.5, seed=3)
    model = fit_label_model(Counter(map(tuple, votes.tolist())), [Voter(str(j)) for j in range(4)])
    assert model.laws[3, 1, 2] < model.laws[3, 1, 0]


def test_without_votes_the_beliefs_speak() -> None:
    model = fit_label_model({}, [Voter("a"), Voter("b")], believed=0.6)
    assert model.chance((NOTHING, NOTHING)) == pytest.approx(0.6, abs=0.01)
    assert model.chance((FOR, FOR)) > 0.9 > 0.1 > model.chance((AGAINST, AGAINST))
