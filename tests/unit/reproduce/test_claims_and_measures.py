"""Claims files as tables, and the measures that all studies share, by hand."""

from __future__ import annotations

import pytest

from textveil.core.errors import BadInput
from textveil.reproduce.cells import Cell, grid
from textveil.reproduce.claims import load_claims
from textveil.reproduce.measures import by_axis, by_seed, each, mean_over, means, paired, ratio, sample
from textveil.reproduce.study import Results

TABLE = """
[[claim]]
where = "Table 2"
kind = "table"
says = "{output} at noise {noise}"
measure = "mean_over"
arguments = {kind = "table", number = "f1", label = "{output}, noise {noise}"}
rule = "near"
settings = {tolerance = 0.03}
columns = ["id", "printed", "arguments.output", "arguments.noise", "settings.value"]
rows = [
  ["a", "0.9", "crf", 1.0, 0.9],
  ["b", "0.8", "softmax", 0.5, 0.8],
]
"""
LONG = """
[[claim]]
id = "{id}"
where = "Table 2"
kind = "table"
says = "{output} at noise {noise}"
printed = "{value}"
cells = ["table"]
measure = "mean_over"
arguments = {{kind = "table", number = "f1", label = "{output}, noise {noise}", output = "{output}", noise = {number}}}
rule = "near"
settings = {{tolerance = 0.03, value = {value}}}
"""


def test_a_table_is_the_same_as_its_claims_one_by_one(tmp_path):
    rows = [("a", "crf", "1", 1.0, 0.9), ("b", "softmax", "0.5", 0.5, 0.8)]
    names = ("id", "output", "noise", "number", "value")
    (tmp_path / "98.toml").write_text("".join(LONG.format(**dict(zip(names, row, strict=True))) for row in rows))
    (tmp_path / "99.toml").write_text(TABLE)
    assert load_claims("99", tmp_path) == load_claims("98", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"softmax", 0.5, 0.8]', '"softmax", 0.5]', "a row has 4 fields, not 5"),
        ('["b"', '["a"', "claims share the name a"),
        ('"arguments.noise"', '"argument.noise"', "unknown field 'argument'"),
        ('rule = "near"\n', "", "lacks a field"),
    ],
)
def test_a_table_that_does_not_fit_is_named(tmp_path, old, new, complaint):
    (tmp_path / "99.toml").write_text(TABLE.replace(old, new))
    with pytest.raises(BadInput, match=complaint):
        load_claims("99", tmp_path)


def results() -> Results:
    cells = {
        cell: _result(**cell.parameters)
        for cell in grid("table", output=["crf", "soft"], noise=[0.0, 2.0], seed=[0, 1, 2])
    }
    return Results({**cells, Cell.of("base"): {"f1": 0.25}})


def _result(output: str, noise: float, seed: int) -> dict:
    f1 = 0.5 + 0.25 * (output == "crf") - 0.125 * noise + seed / 64
    return {"f1": f1, "folds": [f1, f1 + 1], "deep": {"a.b": {"x": 2 * f1}}}


def test_numbers_are_found_in_nested_results():
    assert sample(results(), "table", "f1", output="soft", noise=0.0) == [0.5, 0.515625, 0.53125]
    assert sample(results(), "table", ["deep", "a.b", "x"], output="soft", noise=0.0, seed=0) == [1.0]
    assert sample(results(), "table", "folds", output="soft", noise=0.0, seed=0) == [0.5, 1.5]
    assert sample(results(), "table", ["folds", 1], output="soft", noise=0.0, seed=0) == [1.5]


def test_by_axis_and_by_seed():
    assert by_axis(results(), "table", "noise", "f1", output="soft")[2.0] == {0: 0.25, 1: 0.265625, 2: 0.28125}
    with pytest.raises(BadInput, match="same seed"):
        by_seed(results(), "table", "f1", output="soft")


def test_pairs_are_made_within_a_seed():
    shared = {"kind": "table", "number": "f1", "label": "gap"}
    (gap,) = paired(results(), first={"output": "crf"}, second={"output": "soft"}, noise=0.0, **shared)
    assert (gap.value, gap.low, gap.high, gap.n) == (0.25, 0.25, 0.25, 3)
    several = paired(results(), first=[{"noise": 1.0}, {"noise": 2.0}], second={"noise": 0.0}, output="crf", **shared)
    assert [(m.label, m.value) for m in several] == [("gap, noise 2", -0.25)]  # noise 1 was not run
    (above,) = paired(results(), first={"output": "crf", "noise": 2.0}, second={}, second_kind="base", **shared)
    assert above.value == pytest.approx(0.5 + 1 / 64 - 0.25)
    (over,) = paired(results(), first={"noise": 2.0}, second={"noise": 2.0}, output="crf", how="over", **shared)
    assert (over.value, over.high) == (1.0, 1.0)


def test_means_ratios_and_single_cells():
    (scaled,) = mean_over(results(), kind="table", number="folds", less="folds", scale=100.0, label="none")
    assert (scaled.value, scaled.n) == (0.0, 24)
    assert ratio(results(), kind="table", number=["deep", "a.b", "x"], over="f1", label="two")[0].value == 2.0
    assert each(results(), kind="base", number="f1", label="base")[0].n == 0
    narrow, wide = means({"a": [0.0, 1.0, 2.0]})[0], means({"a": [0.0, 1.0, 2.0], "b": [0.0, 0.0, 0.0]})[0]
    assert wide.high > narrow.high  # several intervals hold together
