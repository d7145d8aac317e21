"""Verdicts follow the interval; figures are well-formed; the page holds what was measured."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ElementTree

import pytest

from textveil.core.errors import UnknownName
from textveil.reproduce.cells import Cell, Kind
from textveil.reproduce.claims import Claim, gaps, judge_all
from textveil.reproduce.figures import Figure, Panel, Series, svg
from textveil.reproduce.study import Run, Study
from textveil.reproduce.tables import markdown, summary, text_table, write
from textveil.reproduce.verdicts import (
    CONFIRMED,
    NOT_COMPARABLE,
    REFUTED,
    UNDECIDED,
    Measure,
    judge,
    mean_of,
    shared_level,
)


def measure(low: float, high: float) -> Measure:
    return Measure("m", (low + high) / 2, low, high, 5)


@pytest.mark.parametrize(
    ("rule", "settings", "intervals", "word"),
    [
        ("above", {"limit": 0}, [(0.1, 0.2)], CONFIRMED),
        ("above", {"limit": 0}, [(0.0, 0.2)], CONFIRMED),
        ("above", {"limit": 0}, [(-0.2, -0.1)], REFUTED),
        ("above", {"limit": 0}, [(-0.1, 0.1)], NOT_COMPARABLE),
        ("above", {"limit": 0}, [(0.1, 0.2), (-0.2, -0.1)], REFUTED),
        ("above", {"limit": 0}, [(0.1, 0.2), (-0.1, 0.1)], NOT_COMPARABLE),
        ("below", {"limit": 0.01}, [(-0.1, 0.005)], CONFIRMED),
        ("below", {"limit": 0.01}, [(0.02, 0.03)], REFUTED),
        ("below", {"limit": 0.01}, [(-math.inf, math.inf)], NOT_COMPARABLE),
        ("within", {"low": 0.4, "high": 0.6}, [(0.45, 0.55)], CONFIRMED),
        ("within", {"low": 0.4, "high": 0.6}, [(0.61, 0.7)], REFUTED),
        ("within", {"low": 0.4, "high": 0.6}, [(0.35, 0.45)], NOT_COMPARABLE),
        ("near", {"value": 0.5, "tolerance": 0.05}, [(0.46, 0.54)], CONFIRMED),
        ("near", {"value": 2, "tolerance": 0}, [(2, 2)], CONFIRMED),
        ("near", {"value": 2, "tolerance": 0}, [(1, 1)], REFUTED),
    ],
)
def test_a_rule_looks_at_the_interval(rule, settings, intervals, word):
    assert judge(rule, [measure(*i) for i in intervals], **settings).word == word


def test_an_undecided_claim_says_so():
    assert judge("above", [measure(-1, 1)], limit=0).reason == UNDECIDED
    assert judge("not_comparable", [measure(0, 1)], reason="other data").reason == "other data"


def test_unknown_rules_are_refused_and_nothing_measured_decides_nothing():
    with pytest.raises(UnknownName):
        judge("abvoe", [measure(0, 1)], limit=0)
    assert judge("above", [], limit=0).word == NOT_COMPARABLE


def test_students_interval():
    found = mean_of("x", [1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.5
    assert found.high - found.value == pytest.approx(3.182446 * 1.2909944 / 2, rel=1e-6)  # t(3), sd, sqrt(4)
    assert mean_of("x", [1.0]).high == math.inf
    assert shared_level(1) == pytest.approx(0.95)


def claim(**changes) -> Claim:
    fields = {"id": "c", "where": "Table 1", "kind": "table", "says": "a | b", "printed": "5", "cells": ("a",)}
    return Claim(**{**fields, "measure": "value", "rule": "above", "settings": {"limit": 0.0}, **changes})


STUDY = Study(
    "99",
    "A test",
    {"a": Kind(print)},
    lambda scale: [Cell.of("a", seed=1)],
    {},
    {"value": lambda results: [Measure.exact("v", f.result["x"]) for f in results.of("a")]},
    lambda results: [],
)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"cells": ()}, "no cell answers it"),
        ({"cells": ("b",)}, "no cell 'b' is planned"),
        ({"measure": "nothing"}, "unknown measure"),
        ({"rule": "perhaps"}, "unknown rule"),
        ({"kind": "rumour"}, "unknown kind"),
        ({"rule": "not_comparable", "settings": {}}, "without a reason"),
    ],
)
def test_a_gap_in_the_claims_is_found(changes, complaint):
    assert gaps([claim()], STUDY) == []
    (found,) = gaps([claim(**changes)], STUDY)
    assert complaint in found


def test_a_claim_without_its_cells_was_not_run():
    done = Run(results={Cell.of("a", seed=1): {"x": 3}}, seconds={Cell.of("a", seed=1): 0.1})
    (ran,) = judge_all([claim()], STUDY, done.view(), set())
    (missing,) = judge_all([claim()], STUDY, done.view(), {"a"})
    assert (ran.verdict.word, missing.verdict.word) == (CONFIRMED, "not run")


def test_the_page_and_its_json(tmp_path):
    done = Run(results={Cell.of("a", seed=1): {"x": 3}}, seconds={Cell.of("a", seed=1): 0.1})
    judged = judge_all([claim()], STUDY, done.view(), set())
    whole = summary(STUDY, done, judged, "small")
    figure = Figure("figure-1", "A figure", [Panel("p", "x", "y", [Series("s", [1, 2], [3, 4])])])
    write(tmp_path, whole, [figure])
    assert json.loads((tmp_path / "results.json").read_text())["claims"][0]["verdict"] == CONFIRMED
    page = (tmp_path / "README.md").read_text()
    assert "| c | Table 1 | a \\| b | 5 | v: 3 | **confirmed** |" in page
    assert "![A figure](figure-1.svg)" in page
    assert page == markdown(whole, [figure])
    assert text_table(judged)[0].startswith("confirmed")


def test_figures_are_well_formed_and_inside_their_frame():
    curve = Series("a < b & c", [1, 10, 100], [0.1, 0.5, 0.9], [0.0, 0.4, -math.inf], [0.2, 0.6, math.inf])
    panels = [
        Panel("log <axis>", "x", "y", [curve], lines=[("base", 0.7)], log_x=True, y_range=(0, 1)),
        Panel("flat", "x", "y", [Series("flat", [0, 1], [2, 2]), Series("one", [0.5], [2.0])]),
        Panel("negative", "x", "y", [Series("n", [-3, -1], [-5e-5, 4e-5], steps=True, dashed=True)]),
    ]
    root = ElementTree.fromstring(svg(Figure("f", 'a "caption" <here>', panels)))
    width, height = float(root.get("width")), float(root.get("height"))
    space = "{http://www.w3.org/2000/svg}"
    groups = [g for g in root.findall(f"{space}g") if g.get("transform")]
    assert len(groups) == 4  # three panels and the legend
    for group in groups:
        x, y = map(float, group.get("transform")[len("translate(") : -1].split())
        assert 0 <= x < width
        assert 0 <= y < height
        for circle in group.iter(f"{space}circle"):
            assert 0 <= x + float(circle.get("cx")) <= width
            assert 0 <= y + float(circle.get("cy")) <= height
    assert "nan" not in svg(Figure("f", "c", panels))
    assert "inf" not in svg(Figure("f", "c", panels[1:]))
