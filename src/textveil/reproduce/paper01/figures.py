"""Paper 01: Figure 2 (cost by frequency), Table 4 as a picture, the tests of Table 1, and all attacks side by side."""

from __future__ import annotations

import math

import numpy as np

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import sample, value_of
from textveil.reproduce.study import Results

RANKS = (1, 10, 100, 1000)
PRINTED = {1: 0.578, 100: 0.063, 1000: 0.016}
_WAYS = {"paper": "sealed as printed", "quiet": "sealed as shipped"}
EPSILONS, SIZES = (2.0, 8.0, 32.0), (90, 180, 360)  # of the sound variant
_ATTACKS = ("lookup", "correlation", "granularity", "likelihood", "redacted", "api", "probing")


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if results.of("clause"):
        drawn += [_figure_2(results), _table_4(results)]
    if results.of("probes"):
        drawn.append(_table_1(results))
    if results.of("attacks"):
        drawn.append(_attacks(results))
    if results.of("sound_curve"):
        drawn.append(_sound(results))
    return drawn


def _figure_2(results: Results) -> Figure:
    panels = [
        _cost(results, "as printed: D(P || Q), furthest removed", ""),
        _cost(results, "the other direction: D(Q || P), worst set", "_backward"),
    ]
    caption = "Figure 2: cost of a word by its frequency rank (mean over clause types; bars: smallest to largest)"
    return Figure("figure-2", caption, panels)


def _cost(results: Results, title: str, suffix: str) -> Panel:
    rows = {rank: [value_of(f, f"eps{rank}{suffix}") for f in results.of("clause")] for rank in RANKS}
    logs = {rank: [math.log10(v) for v in values if 0 < v < math.inf] for rank, values in rows.items()}
    ranks = [rank for rank in RANKS if logs[rank]]
    ours = Series(
        "ours, K by Zipf's law",
        ranks,
        [math.log10(float(np.mean([10**v for v in logs[rank]]))) for rank in ranks],
        [min(logs[rank]) for rank in ranks],
        [max(logs[rank]) for rank in ranks],
    )
    printed = Series("printed", list(PRINTED), [math.log10(v) for v in PRINTED.values()], dashed=True)
    return Panel(
        title, "frequency rank", "log10 of epsilon' (delta 1e-5)", [ours, printed], log_x=True, y_range=(-2.5, 2.0)
    )


def _table_4(results: Results) -> Figure:
    panels = []
    for prefix, title in (("", "tokens"), ("span_", "spans")):
        before = [value_of(f, f"{prefix}f_before") for f in results.of("clause")]
        order = np.argsort(before)
        series = [
            Series(
                name,
                [before[i] for i in order],
                [value_of(results.of("clause")[i], f"{prefix}f_{way}") - before[i] for i in order],
            )
            for way, name in _WAYS.items()
        ]
        panels.append(Panel(f"F1 of {title}", "F1 before", "F1 after less before", series, lines=[("no change", 0.0)]))
    return Figure("table-4", "Table 4 as a picture: one point a clause type", panels)


def _table_1(results: Results) -> Figure:
    series = []
    for way, name in {"before": "before", **_WAYS}.items():
        values = sorted(p for f in results.of("probes") for p in f.result[f"p_values_{way}"])
        series.append(Series(name, [(i + 1) / len(values) for i in range(len(values))], values, steps=True))
    panel = Panel(
        "test of trained against other states",
        "share of document sets",
        "p-value at most",
        series,
        [("alpha .01", 0.01)],
    )
    return Figure("table-1", "Table 1 as a test: p-values over document sets", [panel], columns=1)


def _attacks(results: Results) -> Figure:
    """A line an attack, from the unsealed table to the two seals."""
    found = {**results.of("attacks")[0].result}
    names = list(_ATTACKS)
    for cell in results.of("retrain"):
        found |= {f"{way} retrain": cell.result[f"{way} deterministic"] for way in _WAYS}
    if "paper retrain" in found:
        names.append("retrain")
    series = []
    for name in names:
        ways = [(i, found[f"{w} {name}"]) for i, w in enumerate(("before", *_WAYS)) if f"{w} {name}" in found]
        x, shown = [i for i, _ in ways], [v for _, v in ways]
        series.append(
            Series(name, x, [v["value"] for v in shown], [v["low"] for v in shown], [v["high"] for v in shown])
        )
    half = (len(series) + 1) // 2
    label = "0: unsealed   1: as printed   2: as shipped"
    panels = [
        Panel(title, label, "area under the curve", some, [("chance", 0.5)], y_range=(0.3, 1.02))
        for title, some in (("the table alone", series[:half]), ("text known, or queries", series[half:]))
    ]
    return Figure("attacks", "Every attack on a Governing Law model", panels)


def _sound(results: Results) -> Figure:
    """F1 of the sound variant over the number of contracts, and over epsilon.

    Without bars: clause types differ far more than draws do, and all arms see the same types.
    """
    arms = [("document", epsilon) for epsilon in EPSILONS] + [("paragraph", EPSILONS[0])]
    by_size = [
        Series(f"{unit}, epsilon {e:g}", SIZES, [_sound_f1(results, unit, e, size) for size in SIZES])
        for unit, e in arms
    ]
    by_epsilon = [
        Series(f"{size} contracts", EPSILONS, [_sound_f1(results, "document", e, size) for e in EPSILONS])
        for size in SIZES
    ]
    panels = [
        Panel("by the number of contracts", "contracts", "token F1", by_size, y_range=(0.0, 1.0)),
        Panel("one document protected", "epsilon", "token F1", by_epsilon, log_x=True, y_range=(0.0, 1.0)),
    ]
    return Figure("sound", "The sound variant: mean token F1 over five clause types, delta 1e-6", panels)


def _sound_f1(results: Results, unit: str, epsilon: float, size: int) -> float:
    """The mean over clause types and draws, on the contracts that are held out."""
    wanted = {"unit": unit, "epsilon": epsilon, "documents": size, "method": "descent", "fold": None}
    return float(np.mean(sample(results, "sound_curve", "f", **wanted)))
