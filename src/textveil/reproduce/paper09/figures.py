"""Paper 09, federated half: Figure 4 (training loss by setting) and Figure 5 (scores by workers)."""

from __future__ import annotations

import numpy as np

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import by_axis
from textveil.reproduce.study import Results

from .federated import SETTINGS

TITLES = {"conll": "CoNLL-2003", "wikipii": "WikiPII's stand-in"}
SCORES = ("strict", "exact", "type", "partial")


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    panels = [_losses(results, dataset) for dataset in TITLES if results.of("settings", dataset=dataset)]
    if panels:
        drawn.append(Figure("figure-4", "Figure 4: training loss, mean over seeds", panels))
    if results.of("workers"):
        panel = Panel("federated/central", "workers of ten", "F1", [_score(results, name) for name in SCORES])
        drawn.append(Figure("figure-5", "Figure 5: scores by the number of workers", [panel]))
    return drawn


def _losses(results: Results, dataset: str) -> Panel:
    series = []
    for setting in SETTINGS:
        curves = [c.result["curve"] for c in results.of("settings", dataset=dataset, setting=setting)]
        if curves:
            shortest = min(map(len, curves))
            mean = np.mean([curve[:shortest] for curve in curves], axis=0)
            share = [(place + 1) / shortest for place in range(shortest)]
            series.append(Series(setting, share, mean.tolist(), steps=True))
    return Panel(TITLES[dataset], "share of the training", "loss of a batch", series)


def _score(results: Results, name: str) -> Series:
    places = by_axis(results, "workers", "workers", name)
    return Series.of(name, {workers: list(seeds.values()) for workers, seeds in places.items()})
