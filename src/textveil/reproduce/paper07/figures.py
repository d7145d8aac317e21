"""Paper 07: Figures 1 and 2, and Table 1 as a figure."""

from __future__ import annotations

import math
from typing import Any

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.paper07.measures import TASKS, folds
from textveil.reproduce.study import Results

ARMS = ("none", "plain", "biomedical", "eps 3.2", "eps 1")
_AXES = {"noise": "noise multiplier sigma", "epochs": "epochs", "batch": "batch (sigma with its root)"}
_FORMS = ("HS", "HSH", "HHSHH")


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if results.of("table"):
        drawn.append(_table(results))
    if results.of("figure1"):
        panels = [panel for axis in _AXES for panel in _axis(results.of("figure1")[0].result[axis], axis)]
        drawn.append(Figure("figure-1", "Figure 1: epsilon (left) and F1 (right) against noise, epochs, batch", panels))
    if results.of("figure2"):
        drawn.append(_figure2(results.of("figure2")[0].result))
    return drawn


def _table(results: Results) -> Figure:
    """Arms as points along the axis: 1 none, 2 without privacy, 3 biomedical, 4 eps 3.2, 5 eps 1."""
    series = [
        Series.of(name, {place: folds(results, task, arm) for place, arm in enumerate(ARMS, 1)})
        for task, name in TASKS.items()
    ]
    label = "1 none, 2 no privacy, 3 PubMed, 4 eps 3.2, 5 eps 1"
    return Figure("table-1", "Table 1: F1 after further pre-training", [Panel("Table 1", label, "F1, points", series)])


def _axis(points: list[dict[str, Any]], axis: str) -> list[Panel]:
    points = sorted(points, key=lambda p: p[axis])
    f1 = Series.of("F1", {p[axis]: [100 * f for f in p["f1"]] for p in points})
    epsilon = Series("epsilon", [p[axis] for p in points], [p["epsilon"] for p in points])
    return [
        Panel(f"epsilon against {axis}", _AXES[axis], "epsilon", [epsilon], log_x=True),
        Panel(f"F1 against {axis}", _AXES[axis], "F1, points", [f1], log_x=True),
    ]


def _figure2(result: dict[str, Any]) -> Figure:
    panels = []
    for arm, title in (("plain", "without privacy"), ("eps 0.58", "epsilon .58, vocabulary and training")):
        series = [_curve(result["rows"], arm, form) for form in _FORMS]
        lines = [("cap: log2 of the candidates", result["cap"])]
        line = [r["line"] for r in result["rows"] if r["copies"] == 1 and r["line"] is not None]
        if arm != "plain" and line and line[0] < result["cap"]:
            lines.append(("line of the promise, 1 insertion", line[0]))
        high = max(result["cap"] * 1.08, 1.0)
        panels.append(
            Panel(title, "insertions", "exposure, bits", series, lines, log_x=True, y_range=(0.0, math.ceil(high)))
        )
    return Figure("figure-2", "Figure 2: exposure of secrets against insertions", panels)


def _curve(rows: list[dict[str, Any]], arm: str, form: str) -> Series:
    own = sorted((r for r in rows if (r["arm"], r["form"]) == (arm, form)), key=lambda r: r["copies"])
    return Series(form, [r["copies"] for r in own], [r["exposure"] for r in own])
