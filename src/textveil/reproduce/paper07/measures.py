"""Paper 07: from cells to the numbers that its claims are judged by. F1 in points of 100, differences within folds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from textveil.reproduce.measures import by_name, means, sample
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure

TASKS = {"ner-bc5cdr": "chemicals and diseases", "ner-ncbi-disease": "diseases"}


def folds(results: Results, task: str, arm: str) -> list[float]:
    """F1 of every fold of every seed, in points."""
    return [100 * f1 for f1 in sample(results, "table", ["f1", task, arm])]


def table_f1(results: Results, *, arm: str) -> list[Measure]:
    """The arm's F1 in both tasks."""
    return means({f"{name}: {arm}": folds(results, task, arm) for task, name in TASKS.items()})


def table_difference(results: Results, *, first: str, second: str) -> list[Measure]:
    """First arm less second arm, fold by fold, the mean of both tasks."""
    scores = (np.mean([folds(results, task, arm) for task in TASKS], axis=0) for arm in (first, second))
    return means({f"{first} less {second}, mean of both tasks": np.subtract(*scores).tolist()})


# ---- Figure 1 --------------------------------------------------------------------------------------------------------


def _axis(results: Results, axis: str) -> list[list[dict[str, Any]]]:
    return [cell.result[axis] for cell in results.of("figure1")]


def epsilon_steps(results: Results, *, axis: str) -> list[Measure]:
    """Each epsilon along the axis less the one before."""
    return [
        Measure.exact(f"epsilon at {axis} {b[axis]:g} less at {a[axis]:g}", b["epsilon"] - a["epsilon"])
        for points in _axis(results, axis)
        for a, b in pairwise(points)
    ]


def f1_rise(results: Results, *, axis: str) -> list[Measure]:
    """F1 at the end of the axis less at its start, fold by fold."""
    gaps = [
        100 * (b - a) for points in _axis(results, axis) for a, b in zip(points[0]["f1"], points[-1]["f1"], strict=True)
    ]
    first, last = (_axis(results, axis)[0][i][axis] for i in (0, -1))
    return means({f"F1 at {axis} {last:g} less at {first:g}": gaps})


# ---- Figure 2 --------------------------------------------------------------------------------------------------------


def _rows(results: Results, arm: str) -> list[dict[str, Any]]:
    return [row for cell in results.of("figure2") for row in cell.result["rows"] if row["arm"] == arm]


def exposure_gap(results: Results, *, least: int) -> list[Measure]:
    """Exposure without privacy less with it, canary by canary, from so many insertions on."""
    pairs = zip(_rows(results, "plain"), _rows(results, "eps 0.58"), strict=True)
    gaps = [a["exposure"] - b["exposure"] for a, b in pairs if a["copies"] >= least]
    return means({f"exposure without less with privacy, {least} insertions or more": gaps})


def exposure_mean(results: Results, *, arm: str, least: int, most: int) -> list[Measure]:
    """Mean exposure of an arm."""
    own = [row["exposure"] for row in _rows(results, arm) if least <= row["copies"] <= most]
    return means({f"{arm}: exposure, {least} to {most} insertions": own})


def below_cap(results: Results, *, least: int) -> list[Measure]:
    """How far below the cap the model without privacy stays, in bits."""
    cap = results.of("figure2")[0].result["cap"]
    own = [cap - row["exposure"] for row in _rows(results, "plain") if row["copies"] >= least]
    return means({f"cap less exposure, {least} insertions or more, without privacy": own})


def over_line(results: Results) -> list[Measure]:
    """Exposure of canaries in at most ten examples less the line of the promise (where delta leaves a line)."""
    gaps: dict[str, list[float]] = {}
    for row in _rows(results, "eps 0.58"):
        if row["copies"] <= 10 and row["line"] is not None:
            label = f"{row['form']} x {row['copies']}: exposure less line"
            gaps.setdefault(label, []).append(row["exposure"] - row["line"])
    return means(gaps)


def exposure_growth(results: Results, *, arm: str) -> list[Measure]:
    """Mean exposure at the most insertions less at one."""
    rows = _rows(results, arm)
    most = max(r["copies"] for r in rows)
    forms = sorted({r["form"] for r in rows})
    at = {(r["form"], r["copies"]): r["exposure"] for r in rows}
    return means({f"{arm}: exposure at {most} less at 1": [at[f, most] - at[f, 1] for f in forms]})


# ---- prices ------------------------------------------------------------------------------------------------------------


def oblivious_spread(results: Results) -> list[Measure]:
    """Largest over smallest epsilon when the batch grows and sigma with its root, epochs fixed."""
    epsilons = list(results.of("prices")[0].result["oblivious"].values())
    return [Measure.exact("largest over smallest epsilon", max(epsilons) / min(epsilons))]


MEASURES = by_name(
    table_f1, table_difference, epsilon_steps, f1_rise, exposure_gap, exposure_mean, exposure_growth, below_cap, over_line,
    oblivious_spread,
)  # fmt: skip
