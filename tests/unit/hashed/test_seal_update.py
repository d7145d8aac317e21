"""Updates: every row changes, rare rows of the new documents leave no trace, costs add up, the cap refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from textveil.core.errors import BadInput, Refused
from textveil.hashed.corpus import Corpus
from textveil.hashed.kinds import TableKind
from textveil.hashed.passive_aggressive import PassiveAggressive
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.seal import SealPlan, prepare, seal
from textveil.hashed.table import WeightTable
from textveil.hashed.update import composed, epsilon_of, first_costs, plan_update, train_on, update

R = 1 << 12


def sealed_and_trained(mode="quiet", seed=0):
    rng = np.random.default_rng(seed)
    documents = rng.integers(0, 12, R).astype(np.uint16)
    weights = (rng.normal(size=(R, 2)) * (documents > 0)[:, None]).astype(np.float32)
    table = WeightTable(weights, weights != 0, ("O", "LAW"), np.zeros((2, 2)), documents)
    plan = SealPlan(mode) if mode == "paper" else SealPlan(min_documents=4)
    before = seal(table, plan, seed=1)
    before.facts["costs"] = first_costs(prepare(table, plan).fitted_rows)
    again = rng.integers(0, 12, R).astype(np.uint16) * (rng.random(R) < 0.5)
    change = (0.3 * before.weights + 0.1 * rng.normal(size=(R, 2))) * (again > 0)[:, None]
    after = WeightTable(before.weights + change, np.ones((R, 2), bool), ("O", "LAW"), np.eye(2), again)
    return before, after


@pytest.mark.parametrize("mode", ["quiet", "paper"])
def test_rows_that_were_not_updated_change_too_and_follow_the_law(mode):
    before, after = sealed_and_trained(mode)
    new = update(before, after, seed=2)
    touched = after.documents >= (4 if mode == "quiet" else 1)
    column = new.weights[:, 1].astype(float)
    change = column - before.weights[:, 1]
    assert (change[~touched] != 0).mean() > 0.9
    slope = [np.polyfit(before.weights[rows, 1].astype(float), change[rows], 1)[0] for rows in (touched, ~touched)]
    assert slope[0] == pytest.approx(slope[1], abs=0.1)  # the drawn changes lean on the weights as the trained ones do
    assert change[~touched].std() == pytest.approx(change[touched].std(), rel=0.25)
    assert (new.transitions == after.transitions).all() and new.documents is None and new.kind is TableKind.SEALED


def test_paper_mode_keeps_trained_rows_exactly():
    before, after = sealed_and_trained("paper")
    new = update(before, after, seed=3)
    touched = after.documents >= 1
    assert (new.weights[touched] == after.weights[touched]).all()


def test_what_rare_rows_of_the_new_documents_held_leaves_no_trace():
    before, after = sealed_and_trained()
    other = dataclasses.replace(after, weights=after.weights.copy())
    other.weights[after.documents < 4] += 1
    assert update(before, after, seed=4).weights.tobytes() == update(before, other, seed=4).weights.tobytes()


def test_costs_add_at_each_order_and_the_cap_refuses():
    before, after = sealed_and_trained()
    change = plan_update(before, after)
    assert change.costs["releases"] == 2
    one, both = epsilon_of(before.facts["costs"]), epsilon_of(change.costs)
    assert both > one
    update(before, after, cap=both * 1.01, seed=5)
    with pytest.raises(Refused, match="above the cap"):
        update(before, after, cap=(one + both) / 2)


def test_a_curve_that_is_infinite_stays_so():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    costs = composed(composed(None, rows), rows)
    assert costs["curves"]["1"][-1] == "inf" and epsilon_of(costs, 100) > 0


def test_training_goes_on_from_the_sealed_weights():
    plan = FeaturePlan(bits=12, clusters=None)
    before, _ = sealed_and_trained()
    corpus = Corpus(plan)
    for _ in range(5):
        corpus.add("The fee is due in May. Texas law governs this paper.", [(23, 52, 1)])
    after = train_on(before, corpus, PassiveAggressive(epochs=5, c=1.0))
    moved = (after.weights != before.weights).any(axis=1)
    assert moved.sum() > 0 and not moved[corpus.documents == 0].any()


def test_bad_input():
    before, after = sealed_and_trained()
    with pytest.raises(BadInput, match="not a sealed model"):
        update(after, after)
    with pytest.raises(BadInput, match="does not belong"):
        update(before, dataclasses.replace(after, documents=None))
    with pytest.raises(BadInput, match="slots"):
        train_on(before, Corpus(FeaturePlan(bits=10)), PassiveAggressive())
