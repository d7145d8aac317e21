"""The headline of a sealed model is the largest figure that was computed; the lenient ones stand beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.core import Guarantee, Unit
from textveil.hashed.cost import Cost, ranks_by_zipf
from textveil.hashed.promise import event_of, hidden, measured, measured_sum, not_hidden
from textveil.hashed.seal import SealPlan
from textveil.hashed.update import epsilon_of, first_costs

ROWS = np.random.default_rng(1).normal(size=(4000, 1))


def cost(larger: float) -> Cost:
    return Cost(10, 1000, 1e-5, 0.25, 2.0, larger, 2.0, larger / 2, 2.0)


def test_the_largest_figure_leads_and_the_others_stand_beside_it():
    loss = measured({1: cost(998.7), 10: cost(31.5), 100: cost(2.823), 1000: cost(0.21)}, 1e-5).loss
    assert loss.epsilon == 998.7 and "rank 1)" in loss.how
    for beside in ("rank 10: 31.5", "rank 100: 2.823", "rank 1000: 0.21", "paper's way at rank 100: 0.25"):
        assert beside in loss.how


def test_no_figure_beside_it_is_rounded_down():
    how = measured({1: cost(998.7), 100: cost(2.06441)}, 1e-5).loss.how
    assert "rank 100: 2.065" in how


def test_an_infinite_figure_is_the_headline_and_survives_json():
    promise = measured({1: cost(math.inf), 100: cost(2.0)}, 1e-5)
    assert math.isinf(promise.loss.epsilon) and "rank 100: 2" in promise.loss.how
    assert Guarantee.from_json(promise.to_json()) == promise


def test_no_computed_figure_is_above_the_headline():
    ranks = ranks_by_zipf(ROWS)
    promise = measured(ranks, 1e-5)
    assert promise.loss.epsilon == max(max(c.forward, c.backward, c.paper) for c in ranks.values())
    costs = first_costs(ROWS)
    summed = measured_sum(costs, 1e-5)
    assert summed.loss.epsilon == max(epsilon_of(costs, int(rank)) for rank in costs["curves"])
    assert summed.unit is promise.unit is Unit.TERM


def test_the_event_lists_the_figure_and_has_no_price():
    promise = measured(ranks_by_zipf(ROWS), 1e-5)
    event = event_of(promise, "hashed.seal")
    assert event.noise.loss == promise.loss and event.noise.kind == "unpriced"


@pytest.mark.parametrize("mode", ["quiet", "paper"])
def test_what_is_not_hidden_is_said(mode):
    sentences = not_hidden(SealPlan(mode))
    assert len(sentences) >= 3 and any("transitions" in sentence for sentence in sentences)
    assert bool(hidden(SealPlan(mode))) == (mode == "quiet")
