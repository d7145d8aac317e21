"""Paper 01: its fixture, its arithmetic, its document sets; every claim can be judged and every figure drawn."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from textveil.hashed.cost import columns_of
from textveil.reproduce import study_of
from textveil.reproduce.claims import judge_all, load_claims
from textveil.reproduce.figures import svg
from textveil.reproduce.measures import counted, falling, median_over, share
from textveil.reproduce.paper01 import cells, models, probes, states, toy
from textveil.reproduce.paper01.attacks import WAYS
from textveil.reproduce.paper01.data import CLAUSES, FIVE, STATES, split, states_named
from textveil.reproduce.study import Cell, Results

DETECTORS = ("correlation", "granularity", "likelihood")


def _made_up(kind: str, noise: np.random.Generator) -> dict[str, Any]:
    """A result of the right form, so that measures can be tried without training anything."""
    evidence = {"value": 0.8, "low": 0.75, "high": 0.85, "tries": 600, "notes": []}
    if kind == "attacks":
        names = ("lookup", *DETECTORS, "redacted", "api", "probing")
        return {f"{way} {name}": evidence for way, name in itertools.product(WAYS, names)}
    if kind == "retrain":
        ways = itertools.product(("paper", "quiet"), ("deterministic", "shuffled"))
        return {f"{way} {order}": evidence for way, order in ways}
    if kind == "sound_worlds":
        return {"two worlds": evidence}
    if kind == "probes":
        numbers: dict[str, Any] = {"sets": 10, "trained_states": 80, "other_states": 420, "states": 500}
        for way in probes.WAYS:
            numbers |= {
                f"{n}_{way}": int(noise.integers(0, 10)) for n in ("trained", "others", "extracted", "rejected")
            }
            numbers |= {f"{n}_{way}": float(noise.random()) for n in ("frequent", "rare", "gap", "f")}
            numbers[f"p_values_{way}"] = noise.random(10).tolist()
        return numbers
    if kind == "sound_curve":
        return {"f": [0.7 + 0.1 * noise.random()]}
    if kind == "sound":
        return {"f_before": 0.7 + 0.1 * noise.random(), "f_sound": 0.6}
    if kind == "corpus":
        names = (
            "words terms slots occupied collisions shared most_features first_share hundredth_share thousandth_share"
        )
        return {name: float(noise.random()) for name in names.split()}
    return _clause(noise)


def _clause(noise: np.random.Generator) -> dict[str, Any]:
    names = "unseen unseen_features annotated documents labels partly correlation kurtosis points_after growth".split()
    names += ["worst_over_furthest", "joint_over_sum", "eps10_renyi", "ten_rank100"]
    names += [f"{p}{s}_{w}" for p in ("", "span_") for s in "prf" for w in ("before", "paper", "quiet")]
    names += [
        f"{n}_{w}" for n in ("f_change", "seal_over_train", "genuine_changed", "filled") for w in ("paper", "quiet")
    ]
    names += [
        f"eps{rank}{end}" for rank in (1, 10, 100, 1000) for end in ("", "_forward", "_backward", "_worst", "_true")
    ]
    numbers = {name: float(noise.random()) for name in names}
    return numbers | {f"{n}_{w}": 3 for n in ("changed", "lost") for w in ("paper", "quiet")} | {
        "extractions_paper": 100,
        "extractions_quiet": 100,
        "eps1_backward": "inf",
    }  # fmt: skip


def test_every_claim_can_be_judged_and_every_figure_drawn():
    study, noise = study_of("01"), np.random.default_rng(5)
    by_cell = {
        cell: toy.toy(None, **cell.parameters) if cell.kind == "toy" else _made_up(cell.kind, noise)
        for cell in study.cells("small")
    }
    results = Results(by_cell)
    judged = judge_all(load_claims("01"), study, results, set())
    assert len(judged) > 75 and all(j.measures for j in judged)
    words = {j.claim.id: j.verdict.word for j in judged}
    assert words["tables-2-3"] == words["tables-2-3-filled"] == words["lemma-3"] == words["claim-3"] == "confirmed"
    figures = study.figures(results)
    assert [f.name for f in figures] == ["figure-2", "table-4", "table-1", "attacks", "sound"]
    assert all(svg(figure).startswith("<svg") for figure in figures)


def test_the_toy_table_is_that_of_the_paper():
    table = toy.toy_table()
    assert table.present[3977].tolist() == [False, True] and not table.present[3978].any()
    assert table.weights[3975].tolist() == pytest.approx([0.55, 0.14])
    found = toy.toy(None, seed=3)
    assert (found["changed_genuine"], found["filled"], found["distinct"]) == (0, 1.0, 1)


def test_clause_types_and_split():
    assert len(set(CLAUSES)) == 20 and len(FIVE) == 5 and len(set(STATES)) == 50
    train, test = split(450)
    assert not set(train) & set(test) and len(set(train) | set(test)) == 450
    assert states_named("West Virginia; Washington, and North Carolinas") == ["West Virginia", "Washington"]


def test_document_sets_have_the_occurrences_of_table_1():
    by_state = {f"s{i}": list(range(30 * i, 30 * i + n)) for i, n in enumerate([25, 20, 14, 9, 8, 5, 3, 2, 1, 1, 1])}
    owner = {place: state for state, places in by_state.items() for place in places}
    for seed in range(20):
        drawn = states.draw_set(by_state, seed)
        named = [owner[place] for place in drawn.places]
        assert tuple(named.count(state) for state in drawn.states) == states.OCCURRENCES
        assert len(set(drawn.places)) == len(drawn.places) == 25
    assert states.draw_set(by_state, 3) == states.draw_set(by_state, 3)


def test_changes_of_extractions_are_counted_by_hand():
    before = [np.array([1, 1, 0, 0, 1, 0, 1])]
    after = [[np.array([1, 0, 0, 1, 0, 0, 1])]]  # one shorter, one new, one lost, one the same
    found = cells._changes("paper", before, after)
    assert found == {"changed_paper": 4, "lost_paper": 1, "extractions_paper": 5}


def test_span_scores_need_half_of_the_longer():
    long, short = np.array([1, 1, 1, 1, 0]), np.array([1, 1, 0, 0, 0])
    assert models.span_score([(long, short)]).f == 1.0
    assert models.span_score([(long, np.array([1, 0, 0, 0, 0]))]).f == 0.0


def test_the_divergence_at_one_order_is_that_of_the_moments():
    values = np.array([[-3.0], [-1.0], [0.0], [1.0], [3.5]])
    (column,) = columns_of(values)
    kept = np.array([-3.0, -1.0, 0.0, 1.0])  # 3.5 lies furthest from the mean .1
    v1, v2, gap = values.var(), kept.var(), values.mean() - kept.mean()
    middle = 1.2 * v2 - 0.2 * v1
    expected = np.log(v2 / v1) / 2 + np.log(v2 / middle) / (2 * 0.2) + 1.2 * gap**2 / (2 * middle)
    assert cells.renyi([column], 1, 1.2) == pytest.approx(expected)


def _results(values: list[float], name: str = "x") -> Results:
    return Results({Cell.of("clause", n=i): {name: v, "y": 1.0} for i, v in enumerate(values)})


def test_measures_by_hand():
    assert share(_results([1, 2]), kind="clause", hits="x", tries="x", label="all")[0].value == 1.0
    assert counted(_results([0.1, 0.3, 0.02]), kind="clause", number="x", label="n", high=0.1)[0].value == 2
    assert falling(_results([2.0, 0.5]), kind="clause", numbers=["x", "y"], label="n")[0].value == 0.5
    middle = median_over(_results([float(i) for i in range(1, 21)]), kind="clause", number="x", label="n")[0]
    assert (middle.value, middle.low, middle.high) == (10.5, 6.0, 15.0)  # ranks 6 and 15: 95.9 %


@pytest.mark.data
def test_eight_states_can_be_drawn_from_the_contracts(data_dir):
    drawn = states.draw_set(states.contracts_by_state(data_dir), 0)
    assert len(drawn.places) == 25 and set(drawn.states) <= set(STATES)
