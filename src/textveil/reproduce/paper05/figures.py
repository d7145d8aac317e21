"""Paper 05: canaries found against perplexity, and perplexity against the size of a simulated population."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import by_axis, sample
from textveil.reproduce.paper05.measures import arms
from textveil.reproduce.study import Results

SHOWN: dict[str, Mapping[str, Any]] = {
    "SGD, iid": {"unit": "records", "optimiser": "sgd", "split": "iid"},
    "SGD, by user": {"unit": "records", "optimiser": "sgd", "split": "users"},
    "FedAvg, iid": {"unit": "users", "optimiser": "sgd", "split": "iid", "clip": 0.0},
    "FedAvg, by user": {"unit": "users", "optimiser": "sgd", "split": "users", "clip": 0.0},
    "DP-FedAvg, epsilon 18.8": {"split": "users", "epsilon": 18.8},
    "DP-FedAvg, epsilon 8": {"split": "users", "epsilon": 8.0},
}


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if arms(results):
        panels = [_scatter(results, "rs", "random sampling"), _scatter(results, "bs", "beam search")]
        drawn.append(Figure("memorised", "Canaries found (of 90) against perplexity", panels))
    if results.of("population"):
        drawn.append(
            Figure("population", "The same model with the noise of N users, epsilon 8", [_population(results)])
        )
    return drawn


def _scatter(results: Results, number: str, title: str) -> Panel:
    series = []
    for name, wanted in SHOWN.items():
        models = arms(results, **wanted)
        if models:
            x, y = ([float(m.result[n]) for m in models] for n in ("perplexity", number))
            series.append(Series(name, x, y, joined=False))
    return Panel(title, "perplexity of users not trained on", "canaries found, of 90", series)


def _population(results: Results) -> Panel:
    places = by_axis(results, "population", "population", "perplexity")
    points = {n: list(seeds.values()) for n, seeds in places.items()}
    series = Series("DP-FedAvg", list(points), [sum(p) / len(p) for p in points.values()])
    lines = [("public start", value) for value in sample(results, "start", "perplexity")]
    plain = [m.result["perplexity"] for m in arms(results, **SHOWN["FedAvg, by user"], batch=50)]
    lines += [("FedAvg, no noise", sum(plain) / len(plain))] if plain else []
    return Panel("epsilon 8, m in proportion", "users N", "perplexity", [series], lines, log_x=True)
