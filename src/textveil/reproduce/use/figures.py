"""The frontiers of complaints and reviews: measured with intervals over draws, and as the table foresaw them."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.study import Results
from textveil.reproduce.use.collections import FORESEEN
from textveil.reproduce.use.measures import accuracies, by_arm, channel_of_arm, curve_of, foreseen_accuracy

SHOWN = 2_000  # documents


def figures(results: Results) -> list[Figure]:
    panels = [_panel(results, name) for name in FORESEEN if results.of("frontier", name=name)]
    if not panels:
        return []
    caption = "Attack success against accuracy on clear text; dashed: foreseen by the table, which has seen neither"
    return [Figure("frontier", caption, panels)]


def _panel(results: Results, name: str) -> Panel:
    curve = curve_of(results, name)
    series = [Series.of(mechanism, points) for mechanism, points in accuracies(results, name, SHOWN).items()]
    series += _foreseen(results, name)
    lines = [("clear text", curve.chance + curve.gain(SHOWN)), ("by chance", curve.chance)]
    return Panel(f"{name}, {SHOWN:,} documents", "success of the best attack on a word", "accuracy", series, lines)


def _foreseen(results: Results, name: str) -> list[Series]:
    by_mechanism: dict[str, list[tuple[float, float]]] = {}
    for parameters, _ in by_arm(results, "frontier", name, SHOWN).values():
        attack = channel_of_arm(results, parameters).result["attack"]["value"]
        height = foreseen_accuracy(results, name, parameters, SHOWN)
        by_mechanism.setdefault(parameters["mechanism"], []).append((attack, height))
    return [
        Series(f"words.{mechanism}, foreseen", *zip(*sorted(points), strict=True), dashed=True)
        for mechanism, points in by_mechanism.items()
    ]
