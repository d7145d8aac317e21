"""Paper 03: Figures 1a, 1b and 2, and ours (accuracy against attack success)."""

from __future__ import annotations

import numpy as np

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import sample
from textveil.reproduce.paper03.measures import per_seed, success_curve
from textveil.reproduce.study import Results

_NAMES = {"laplace": "Madlib (Laplace)", "brr": "BRR"}


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if per_seed(results, "laplace", "accuracy") and per_seed(results, "none", "accuracy"):
        panels = [
            _against_epsilon(results, "accuracy", "(a) accuracy on clear test reviews", "accuracy"),
            _against_epsilon(results, "auc", "(b) membership attack", "AUC"),
        ]
        drawn.append(Figure("figure-1", "Figure 1: utility and membership attack against Madlib's epsilon", panels))
    if results.of("speed"):
        drawn.append(_figure2(results))
    if results.of("attack") and per_seed(results, "laplace", "accuracy"):
        panels = [_success(results), _against_success(results)]
        drawn.append(Figure("figure-ours", "Ours: the same at equal success of the optimal adversary", panels))
    return drawn


def _against_epsilon(results: Results, field: str, title: str, label: str) -> Panel:
    series = []
    for mechanism, name in _NAMES.items():
        series.append(Series.of(name, {e: list(v.values()) for e, v in per_seed(results, mechanism, field).items()}))
    plain = float(np.mean(sample(results, "target", field, mechanism="none")))
    return Panel(title, "Madlib's epsilon", label, series, lines=[("baseline: no privacy", plain)])


def _success(results: Results) -> Panel:
    series = []
    for mechanism, name in _NAMES.items():
        x, y = success_curve(results, mechanism)
        series.append(Series(name, x.tolist(), y.tolist()))
    return Panel(
        "optimal adversary, one word at a time", "Madlib's epsilon", "attack success", series, y_range=(0.0, 1.0)
    )


def _against_success(results: Results) -> Panel:
    series = []
    for mechanism, name in _NAMES.items():
        epsilons, success = success_curve(results, mechanism)
        accuracy = per_seed(results, mechanism, "accuracy")
        at = zip(success.tolist(), epsilons.tolist(), strict=True)
        series.append(Series.of(name, {x: list(accuracy[e].values()) for x, e in at}))
    return Panel("accuracy at equal attack success", "attack success", "accuracy", series)


def _figure2(results: Results) -> Figure:
    panels = []
    for cell in results.of("speed"):
        series = []
        for mechanism, name in _NAMES.items():
            seconds = [1e6 * s for s in cell.result["seconds_a_word"][mechanism]]
            series.append(Series(name, list(range(1, len(seconds) + 1)), seconds))
        title = f"{cell.parameters['dimensions']} dimensions, {cell.result['vocabulary']:,} words"
        top = 1.1 * max(y for s in series for y in s.y)
        panels.append(Panel(title, "repeat", "microseconds a word", series, y_range=(0.0, top)))
    return Figure("figure-2", "Figure 2: wall time a word, one thread", panels)
