"""Paper 11: accuracy above the largest class, and how many labels make a copy."""

from __future__ import annotations

from typing import Any

from textveil.reproduce.measures import by_name, share, value_of
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure


def above_majority(results: Results, *, label: str, **wanted: Any) -> list[Measure]:
    """Accuracy less the share of the largest class among the same texts."""
    measures = share(results, kind="plain", hits="hits", tries="test", label=label, **wanted)
    for cell, m in zip(results.of("plain", **wanted), measures, strict=False):
        majority = value_of(cell, "majority")
        return [Measure(label, m.value - majority, m.low - majority, m.high - majority, m.n)]
    return []


def queries_until(results: Results, *, agreement: float, label: str, **wanted: Any) -> list[Measure]:
    """The fewest labels, of those tried, whose copy agrees so often."""
    reached = [
        cell.parameters["queries"]
        for cell in results.of("extraction", **wanted)
        if value_of(cell, "agreement") >= agreement
    ]
    return [Measure.exact(label, min(reached))] if reached else []


MEASURES = by_name(above_majority, queries_until)
