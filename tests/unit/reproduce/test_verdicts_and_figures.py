"""Verdicts follow the interval; figures are well-formed; the page holds what was measured."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from textveil.core.errors import BadInput, UnknownName
from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell, Kind
from textveil.reproduce.claims import Claim, gaps, judge_all
from textveil.reproduce.figures import Figure, Panel, Series, svg
from textveil.reproduce.report import judge_again, report
from textveil.reproduce.study import Run, Study
from textveil.reproduce.tables import markdown, summary, text_table, write
from textveil.reproduce.verdicts import (
    CONFIRMED,
    NOT_COMPARABLE,
    ONE_RUN,
    REACHES_OVER,
    REFUTED,
    UNDECIDED,
    Measure,
    Verdict,
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
        ("above", {"limit": 0}, [(-0.1, 0.1)], UNDECIDED),
        ("above", {"limit": 0}, [(0.1, 0.2), (-0.2, -0.1)], REFUTED),
        ("above", {"limit": 0}, [(0.1, 0.2), (-0.1, 0.1)], UNDECIDED),
        ("below", {"limit": 0.01}, [(-0.1, 0.005)], CONFIRMED),
        ("below", {"limit": 0.01}, [(0.02, 0.03)], REFUTED),
        ("below", {"limit": 0.01}, [(-math.inf, math.inf)], UNDECIDED),
        ("within", {"low": 0.4, "high": 0.6}, [(0.45, 0.55)], CONFIRMED),
        ("within", {"low": 0.4, "high": 0.6}, [(0.61, 0.7)], REFUTED),
        ("within", {"low": 0.4, "high": 0.6}, [(0.35, 0.45)], UNDECIDED),
        ("near", {"value": 0.5, "tolerance": 0.05}, [(0.46, 0.54)], CONFIRMED),
        ("near", {"value": 2, "tolerance": 0}, [(2, 2)], CONFIRMED),
        ("near", {"value": 2, "tolerance": 0}, [(1, 1)], REFUTED),
    ],
)
def test_a_rule_looks_at_the_interval(rule, settings, intervals, word):
    assert judge(rule, [measure(*i) for i in intervals], **settings).word == word


def test_an_undecided_claim_says_so():
    assert judge("above", [measure(-1, 1)], limit=0).reason == REACHES_OVER
    assert judge("not_comparable", [measure(0, 1)], reason="other data").reason == "other data"


@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
def test_one_run_has_no_interval_and_no_verdict(value):
    once = Measure("m", value, value, value, n=1)
    assert (once.low, once.high) == (-math.inf, math.inf)
    assert judge("above", [once], limit=0) == Verdict(UNDECIDED, ONE_RUN)
    assert judge("near", [once], value=value, tolerance=5) == Verdict(UNDECIDED, ONE_RUN)
    assert judge("above", [once, measure(0.1, 0.2)], limit=0) == Verdict(UNDECIDED, ONE_RUN)
    assert judge("above", [once, measure(-0.2, -0.1)], limit=0).word == REFUTED  # another measure decides


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


def test_the_page_tells_one_run_from_an_interval():
    done = Run(results={Cell.of("a", seed=1): {"x": 3}}, seconds={Cell.of("a", seed=1): 0.1})
    once = claim(measure="mean_over", arguments={"kind": "a", "number": "x", "label": "v"})
    judged = judge_all([once], STUDY, done.view(), set())
    page = markdown(summary(STUDY, done, judged, "small"), [])
    assert "| v: 3 (one run) | **undecided**: one run |" in page
    assert "1 claims: 1 undecided." in page


def test_kept_results_are_judged_again_without_a_run(tmp_path):
    study = study_of("06")
    cells = {cell: study.kinds[cell.kind].function(None, **cell.parameters) for cell in study.cells("small", "figure1")}
    done = Run(results=cells, seconds=dict.fromkeys(cells, 0.1))
    write(tmp_path, summary(study, done, [], "small"), [])
    whole, lines = judge_again(study, tmp_path)
    words = {c["id"]: c["verdict"] for c in whole["claims"]}
    assert words["f1-laplace"] == CONFIRMED
    assert words["f2k-laplace-lowest"] == "not run"
    assert len(lines) == len(words)
    assert (tmp_path / "figure-1.svg").exists()
    with pytest.raises(BadInput, match="no results"):
        judge_again(study, tmp_path / "nowhere")


def test_a_cell_that_the_kept_results_lack_is_missed(tmp_path):
    study = study_of("06")
    cells = {cell: study.kinds[cell.kind].function(None, **cell.parameters) for cell in study.cells("small", "figure1")}
    cells.pop(next(iter(cells)))
    done = Run(results=cells, seconds=dict.fromkeys(cells, 0.1))
    write(tmp_path, summary(study, done, [], "small"), [])
    whole, _ = judge_again(study, tmp_path)
    assert {c["id"]: c["verdict"] for c in whole["claims"]}["f1-laplace"] == "not run"


def test_a_result_folder_serves_as_a_cache(tmp_path):
    study, out = study_of("06"), tmp_path / "out"
    first, _ = report(study, "small", "figure1", cache=tmp_path / "a", out=out)
    assert all("key" in cell for cell in first["cells"])
    counted = []
    again, _ = report(study, "small", "figure1", cache=tmp_path / "b", out=out, progress=lambda c, s: counted.append(s))
    assert counted == [0.0] * len(first["cells"])  # nothing was run
    assert again["cells"] == first["cells"]
    stale = json.loads((out / "results.json").read_text())
    stale["cells"][0]["key"] = "00" * 20  # as if the code had changed since
    (out / "results.json").write_text(json.dumps(stale))
    counted.clear()
    report(study, "small", "figure1", cache=tmp_path / "c", out=out, progress=lambda c, s: counted.append(s))
    assert sum(seconds > 0 for seconds in counted) == 1


def test_results_of_earlier_code_stay_while_another_part_runs_and_the_page_says_so(tmp_path):
    parts = {"odds": ("line_odds",), "certificates": ("line_certificate",)}
    study, out = replace(study_of("06"), parts=parts), tmp_path / "out"
    report(study, "small", "odds", cache=tmp_path / "a", out=out)
    stale = json.loads((out / "results.json").read_text())
    for cell in stale["cells"]:
        cell["key"] = "00" * 20
    (out / "results.json").write_text(json.dumps(stale))
    whole, _ = report(study, "small", "certificates", cache=tmp_path / "b", out=out)
    kept = [cell for cell in whole["cells"] if cell.get("code") == "earlier"]
    assert {cell["cell"] for cell in kept} == {cell["cell"] for cell in stale["cells"]}
    assert len(kept) == len(stale["cells"])
    assert f"{len(kept)} kept from an earlier run, whose code or data may differ" in (out / "README.md").read_text()
    again, _ = judge_again(study, out)
    assert [c for c in again["cells"] if c.get("code") == "earlier"] == kept
    fresh, _ = report(study, "small", "odds", cache=tmp_path / "b", out=out)
    assert not any("code" in cell for cell in fresh["cells"])


def test_a_series_of_runs():
    series = Series.of("s", {1.0: [1.0, 3.0], 2.0: [], 4.0: [5.0]}, dashed=True)
    assert (series.x, series.y) == ([1.0, 4.0], [2.0, 5.0])
    assert series.low[0] == pytest.approx(2 - 12.706, abs=1e-3)
    assert series.low[1] == -math.inf  # one run: drawn without a bar


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


def test_marks_of_a_long_logarithmic_axis_are_powers_of_ten_and_runs_are_not_joined():
    panel = Panel("p", "x", "y", [Series("s", [1e4, 1e5, 1e6], [1, 2, 3], joined=False)], log_x=True)
    drawn = svg(Figure("f", "c", [panel]))
    assert [mark in drawn for mark in (">10000<", ">100000<", ">1M<", ">20000<", ">500000<")] == [True] * 3 + [
        False
    ] * 2
    near = svg(Figure("f", "c", [Panel("p", "x", "y", [Series("s", [1, 20], [1, 2])], log_x=True)]))
    assert all(f">{mark}<" in near for mark in (1, 2, 5, 10, 20))
    joined = svg(Figure("f", "c", [Panel("p", "x", "y", [Series("s", [1e4, 1e6], [1, 2])], log_x=True)]))
    assert (drawn.count('stroke-width="1.7"'), joined.count('stroke-width="1.7"')) == (1, 2)  # one is the legend's
