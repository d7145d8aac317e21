"""Paper 11: accuracy above the largest class, and how many labels make a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.reproduce.measures import by_name, share, value_of
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure, mean_of


def above_majority(results: Results, *, label: str, **wanted: Any) -> list[Measure]:
    """Accuracy less the share of the largest class among the same texts."""
    measures = share(results, kind="plain", hits="hits", tries="test", label=label, **wanted)
    for cell, m in zip(results.of("plain", **wanted), measures, strict=False):
        majority = value_of(cell, "majority")
        return [Measure(label, m.value - majority, m.low - majority, m.high - majority, m.n)]
    return []


def copies(results: Results, **wanted: Any) -> dict[int, list[float]]:
    """How often copies agree with the model, by the labels that they were trained on."""
    found: dict[int, list[float]] = {}
    for cell in results.of("extraction", **wanted):
        found.setdefault(cell.parameters["queries"], []).append(value_of(cell, "agreement"))
    return dict(sorted(found.items()))


def queries_until(results: Results, *, agreement: float, label: str, **wanted: Any) -> list[Measure]:
    """The fewest labels, of those tried, whose copies agree so often on average."""
    reached = [queries for queries, found in copies(results, **wanted).items() if np.mean(found) >= agreement]
    return [Measure.exact(label, reached[0])] if reached else []


def copy_within(results: Results, *, budget: int, label: str, **wanted: Any) -> list[Measure]:
    """How often the best copy agrees that a budget of labels allows."""
    allowed = [found for queries, found in copies(results, **wanted).items() if queries <= budget]
    means_allowed = [mean_of(label, found) for found in allowed]
    return [max(means_allowed, key=lambda m: m.value)] if allowed else []


MEASURES = by_name(above_majority, queries_until, copy_within)
