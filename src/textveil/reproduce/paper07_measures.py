"""Paper 07: from cells to the numbers that its claims are judged by. F1 in points of 100, differences within folds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure, mean_of, shared_level

TASKS = {"ner-bc5cdr": "chemicals and diseases", "ner-ncbi-disease": "diseases"}


def _folds(results: Results, task: str, arm: str) -> list[float]:
    """F1 of every fold of every seed, in points."""
    return [100 * f1 for found in results.of("table") for f1 in found.result["f1"][task][arm]]


def table_f1(results: Results, *, arm: str) -> list[Measure]:
    """The arm's F1 in both tasks."""
    share = shared_level(len(TASKS))
    return [mean_of(f"{name}: {arm}", _folds(results, task, arm), level=share) for task, name in TASKS.items()]


def table_difference(results: Results, *, first: str, second: str) -> list[Measure]:
    """First arm less second arm, fold by fold, both tasks together and each by itself."""
    gaps = {
        name: [a - b for a, b in zip(_folds(results, task, first), _folds(results, task, second), strict=True)]
        for task, name in TASKS.items()
    }
    both = [sum(pair) / len(pair) for pair in zip(*gaps.values(), strict=True)]
    return [mean_of(f"{first} less {second}, mean of both tasks", both)]


def private_epsilon(results: Results, *, arm: str) -> list[Measure]:
    """The epsilon of vocabulary and training together."""
    return [Measure.exact(f"{arm}: joint epsilon", f.result["private"][arm]["epsilon"]) for f in results.of("table")]


# ---- Figure 1 --------------------------------------------------------------------------------------------------------


def _axis(results: Results, axis: str) -> list[list[dict[str, Any]]]:
    return [found.result[axis] for found in results.of("figure1")]


def epsilon_steps(results: Results, *, axis: str) -> list[Measure]:
    """Each epsilon along the axis less the one before."""
    found = []
    for points in _axis(results, axis):
        for a, b in pairwise(points):
            label = f"epsilon at {axis} {b[axis]:g} less at {a[axis]:g}"
            found.append(Measure.exact(label, b["epsilon"] - a["epsilon"]))
    return found


def f1_rise(results: Results, *, axis: str) -> list[Measure]:
    """F1 at the end of the axis less at its start, fold by fold."""
    gaps = [
        100 * (b - a) for points in _axis(results, axis) for a, b in zip(points[0]["f1"], points[-1]["f1"], strict=True)
    ]
    first, last = (_axis(results, axis)[0][i][axis] for i in (0, -1))
    return [mean_of(f"F1 at {axis} {last:g} less at {first:g}", gaps)]


# ---- Figure 2 --------------------------------------------------------------------------------------------------------


def _rows(results: Results, arm: str) -> list[dict[str, Any]]:
    return [row for found in results.of("figure2") for row in found.result["rows"] if row["arm"] == arm]


def exposure_gap(results: Results, *, least: int) -> list[Measure]:
    """Exposure without privacy less with it, canary by canary, from so many insertions on."""
    pairs = zip(_rows(results, "plain"), _rows(results, "eps 0.58"), strict=True)
    gaps = [a["exposure"] - b["exposure"] for a, b in pairs if a["copies"] >= least]
    return [mean_of(f"exposure without less with privacy, {least} insertions or more", gaps)]


def exposure_mean(results: Results, *, arm: str, least: int, most: int) -> list[Measure]:
    """Mean exposure of an arm."""
    own = [row["exposure"] for row in _rows(results, arm) if least <= row["copies"] <= most]
    return [mean_of(f"{arm}: exposure, {least} to {most} insertions", own)]


def below_cap(results: Results, *, least: int) -> list[Measure]:
    """How far below the cap the model without privacy stays, in bits."""
    cap = results.of("figure2")[0].result["cap"]
    own = [cap - row["exposure"] for row in _rows(results, "plain") if row["copies"] >= least]
    return [mean_of(f"cap less exposure, {least} insertions or more, without privacy", own)]


def over_line(results: Results) -> list[Measure]:
    """Exposure of canaries in at most ten examples less the line of the promise (where delta leaves a line)."""
    own = [r for r in _rows(results, "eps 0.58") if r["copies"] <= 10 and r["line"] is not None]
    return [Measure.exact(f"{r['form']} x {r['copies']}: exposure less line", r["exposure"] - r["line"]) for r in own]


def exposure_growth(results: Results, *, arm: str) -> list[Measure]:
    """Mean exposure at the most insertions less at one."""
    rows = _rows(results, arm)
    most = max(r["copies"] for r in rows)
    forms = sorted({r["form"] for r in rows})
    at = {(r["form"], r["copies"]): r["exposure"] for r in rows}
    return [mean_of(f"{arm}: exposure at {most} less at 1", [at[f, most] - at[f, 1] for f in forms])]


# ---- vocabularies ------------------------------------------------------------------------------------------------------


def token_ratio(results: Results, *, kind: str, method: str) -> list[Measure]:
    """Tokens a word over those of the vocabulary without privacy."""
    return [
        Measure.exact(
            f"{method}: tokens a word over no privacy", f.result[method]["tokens"] / f.result["plain"]["tokens"]
        )
        for f in results.of(kind)
    ]


def unknown_share(results: Results, *, kind: str, method: str) -> list[Measure]:
    """Share of [UNK] among the tokens."""
    return [Measure.exact(f"{method}: share of [UNK]", f.result[method]["unknown"]) for f in results.of(kind)]


def vocabulary_f1(results: Results) -> list[Measure]:
    """F1 with the private vocabulary less with the other, fold by fold."""
    pairs = [
        100 * (a - b)
        for found in results.of("vocabularies")
        for a, b in zip(found.result["policy"]["f1"], found.result["plain"]["f1"], strict=True)
    ]
    return [mean_of("F1 with private vocabulary less without privacy", pairs)]


# ---- prices ------------------------------------------------------------------------------------------------------------


def price(results: Results, *, name: str, key: str = "", place: int = -1) -> list[Measure]:
    """One number of the prices cell."""
    value = results.of("prices")[0].result[name]
    value = value[key] if key else value
    value = value[place] if place >= 0 else value
    return [Measure.exact(f"{name} {key}".strip(), value)]


def oblivious_spread(results: Results) -> list[Measure]:
    """Largest over smallest epsilon when the batch grows and sigma with its root, epochs fixed."""
    found = list(results.of("prices")[0].result["oblivious"].values())
    return [Measure.exact("largest over smallest epsilon", float(np.max(found) / np.min(found)))]


MEASURES: dict[str, Callable[..., list[Measure]]] = {
    "table_f1": table_f1,
    "table_difference": table_difference,
    "private_epsilon": private_epsilon,
    "epsilon_steps": epsilon_steps,
    "f1_rise": f1_rise,
    "exposure_gap": exposure_gap,
    "exposure_mean": exposure_mean,
    "exposure_growth": exposure_growth,
    "below_cap": below_cap,
    "over_line": over_line,
    "token_ratio": token_ratio,
    "unknown_share": unknown_share,
    "vocabulary_f1": vocabulary_f1,
    "price": price,
    "oblivious_spread": oblivious_spread,
}
