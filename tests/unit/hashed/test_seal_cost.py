"""Costs: worst sets against all subsets, the paper's rule, both directions, infinity, terms against a slow count."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from textveil.hashed.cost import (
    Column,
    columns_of,
    cost_of_count,
    cost_of_rows,
    cost_of_several,
    curve,
    ranks_by_zipf,
    zipf_count,
)  # fmt: skip
from textveil.hashed.divergence import DELTA, ORDERS, gaussian
from textveil.hashed.features import slots_of
from textveil.hashed.kernel_cost import GridLaw, kernel_cost
from textveil.hashed.law import KernelLaw
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.seal import SealPlan, prepare
from textveil.hashed.segments import tokenize
from textveil.hashed.table import WeightTable
from textveil.hashed.term_counts import joint_cost, ranks_by_features, term_costs, term_features
from textveil.noise import seeded


def divergence(alpha, column, mean, variance, backward):
    pair = (column.mean, column.variance, mean, variance)
    return gaussian(alpha, *(pair[2:] + pair[:2] if backward else pair))


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("alpha", [1.1, 2.0, 5.0, 30.0])
@pytest.mark.parametrize("seed", range(12))
def test_the_worst_set_is_the_worst_of_all_subsets(alpha, backward, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 11))
    count = int(rng.integers(1, n - 2))
    column = Column(rng.standard_t(2, n) if seed % 2 else rng.normal(size=n))
    found = divergence(alpha, column, *column.extremes(count), backward).max()
    left = [column.values[list(s)] for s in itertools.combinations(range(n), n - count)]
    brute = divergence(
        alpha, column, np.array([x.mean() for x in left]), np.array([x.var() for x in left]), backward
    ).max()
    assert found == pytest.approx(brute, rel=1e-7) or (math.isinf(found) and math.isinf(brute))


def test_consecutive_values_can_be_the_worst_set():
    """Backward, taking out the middle widens the law until its tail is too heavy; no set of outer values does that."""
    column = Column(np.concatenate([[-3.0, 3.0], np.linspace(-0.1, 0.1, 9)]))
    every = divergence(4.0, column, *column.extremes(4), True)
    assert math.isfinite(every[:5].max()) and every[5:].max() == math.inf


def test_the_papers_rule_removes_the_furthest_values():
    values = np.array([0.0, 1.0, -1.0, 5.0, 0.5, -0.5, 0.2, -0.2])
    cost = cost_of_count([Column(values)], 1)
    rest = np.delete(values, 3)
    orders = 1 + np.geomspace(1e-4, 1e4, 40_001)
    read = gaussian(orders, values.mean(), values.var(), rest.mean(), rest.var()) - math.log(DELTA) / (orders - 1)
    assert cost.paper == pytest.approx(read.min(), rel=1e-4)
    assert cost.forward >= cost.paper - 1e-9 and cost.larger == max(cost.forward, cost.backward)


def test_columns_add_up_at_one_order():
    values = np.random.default_rng(0).normal(size=400)
    one, two = cost_of_count([Column(values)], 4), cost_of_count([Column(values), Column(-values)], 4)
    assert one.forward < two.forward < 2 * one.forward  # the slack ln(1/delta) is paid once


def test_more_rows_cost_more_and_infinity_is_said():
    columns = columns_of(np.random.default_rng(1).normal(size=(300, 2)))
    found = [cost_of_count(columns, k).larger for k in (1, 3, 10, 30)]
    assert found == sorted(found) and all(map(math.isfinite, found))
    gone = cost_of_count(columns, 299)
    assert gone.larger == math.inf and gone.to_json()["larger"] == "inf"
    assert cost_of_count(columns, 0).larger == 0
    assert math.isinf(curve(columns, 100, np.array([1e6]))[0])  # the narrower law has too light a tail at this order


def test_zipf_ranks():
    assert [zipf_count(r, 10_000) for r in (1, 10, 100, 1000)] == [700, 70, 7, 1]
    ranks = ranks_by_zipf(np.random.default_rng(2).normal(size=(3000, 2)))
    assert list(ranks) == [1, 10, 100, 1000] and ranks[1].paper > ranks[10].paper > ranks[100].paper


def test_given_rows_against_refitting():
    rows = np.random.default_rng(3).normal(size=(200, 2))
    places = np.array([3, 50, 199])
    forward, backward = cost_of_rows(rows, [places])
    rest = np.delete(rows, places, axis=0)
    orders = 1 + np.geomspace(1e-3, 1e6, 60_001)
    for found, swap in ((forward[0], False), (backward[0], True)):
        pairs = [(rows[:, j].mean(), rows[:, j].var(), rest[:, j].mean(), rest[:, j].var()) for j in range(2)]
        read = sum(gaussian(orders, *(p[2:] + p[:2] if swap else p)) for p in pairs) - math.log(DELTA) / (orders - 1)
        assert found == pytest.approx(read.min(), rel=1e-4)


def test_correlated_terms_pay_the_slack_once():
    one = np.full(len(ORDERS), 0.02)
    assert cost_of_several([one, one]) - cost_of_several([one]) == pytest.approx(0.02)


def test_a_kernel_law_on_its_grid_is_what_is_drawn():
    """Chances of grid points against draws: total variation over bins. 200,000 draws over at most 65 points; the chance
    that it exceeds sqrt(points / draws) + .02 is far below 1e-6 (bounded differences)."""
    values = np.round(np.random.default_rng(4).standard_t(3, 60) * 4) / 4
    law = KernelLaw.fit(values[:, None])
    grid = GridLaw(values, step=law.bound[0] / 32)
    drawn = np.round(law.draw(200_000, seeded(5))[:, 0] / grid.step).astype(int) + grid.half
    seen = np.bincount(drawn, minlength=grid.size) / len(drawn)
    assert np.abs(seen - grid.chances()).sum() / 2 < math.sqrt(grid.size / len(drawn)) + 0.02


def test_the_kernel_cost_is_finite_grows_and_bounds_its_rounding():
    rows = np.random.default_rng(6).standard_t(3, (4000, 1))
    few, many = (kernel_cost(rows, k, step=2.0**-6) for k in (1, 20))
    assert 0 < few.searched < many.searched < math.inf
    assert few.error < 1e-9 and few.sets >= 6
    assert kernel_cost(rows, 3999, step=0.01).searched == math.inf


TEXTS = ["The law of Texas governs. The fee is due.", "The law of Ohio governs this paper.", "A fee of Texas."]
PLAN = FeaturePlan(bits=10, clusters=None)


def slow_pairs():
    pairs = set()
    for text in TEXTS:
        tokens = tokenize(text)
        rows = slots_of(tokens, PLAN)
        for i, word in enumerate(tokens.words):
            pairs |= {(word.lower(), int(s)) for s in rows.indices[rows.starts[i] : rows.starts[i + 1]]}
    return pairs


def test_features_of_terms_against_a_slow_count():
    found = term_features(TEXTS, PLAN)
    assert {(found.terms[o], int(s)) for o, s in zip(found.owner, found.slot, strict=True)} == slow_pairs()
    assert len(found.owner) == len(slow_pairs())
    assert found.occurrences[found.terms.index("texas")] == 2
    assert found.terms[found.by_frequency()[0]] in ("the", ".")


def test_costs_of_all_terms_against_one_by_one():
    rng = np.random.default_rng(7)
    documents = rng.integers(0, 6, 1024).astype(np.uint16)
    weights = rng.normal(size=(1024, 2)).astype(np.float32) * (documents > 0)[:, None]
    table = WeightTable(weights, weights != 0, ("O", "LAW"), np.zeros((2, 2)), documents)
    found = term_features(TEXTS, PLAN)
    for plan in (SealPlan(min_documents=3), SealPlan("paper")):
        ready = prepare(table, plan)
        costs = term_costs(ready, found)
        for number, term in enumerate(found.terms):
            own = [s for t, s in slow_pairs() if t == term]
            places = np.flatnonzero(np.isin(ready.fitted, own))
            forward, backward = cost_of_rows(ready.fitted_rows, [places])
            assert costs.fitted[number] == len(places)
            assert costs.larger[number] == pytest.approx(max(forward[0], backward[0]), rel=1e-6)
        assert ranks_by_features(ready, costs, found)[1].count == costs.fitted[found.by_frequency()[0]]
        both = [found.terms.index("texas"), found.terms.index("law")]
        assert joint_cost(ready, found, both) > max(joint_cost(ready, found, [i]) for i in both)


def test_a_term_without_kept_rows_costs_nothing():
    found = term_features(TEXTS, PLAN)
    documents = np.full(1024, 9, np.uint16)
    documents[found.slot[found.owner == found.terms.index("ohio")]] = 1
    weights = np.random.default_rng(8).normal(size=(1024, 2)).astype(np.float32)
    ready = prepare(
        WeightTable(weights, weights != 0, ("O", "LAW"), np.zeros((2, 2)), documents), SealPlan(min_documents=2)
    )
    costs = term_costs(ready, found)
    assert costs.larger[found.terms.index("ohio")] == 0 and costs.larger[found.terms.index("texas")] > 0
