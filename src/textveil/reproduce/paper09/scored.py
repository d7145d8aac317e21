"""Scores as measures of claims take them."""

from __future__ import annotations

from typing import Any

from textveil.pii.scores.intervals import scores_of


def scored(sums: Any) -> dict[str, Any]:
    """Scores as measures of claims take them: the value, the ends of its interval, and how many documents are behind it."""
    figures: dict[str, Any] = {}
    for name, score in scores_of(sums).items():
        low, high = score.intervals["f1"]
        figures[name] = {"value": score.f1, "low": low, "high": high, "tries": len(sums)}
        figures[name] |= {"precision": score.precision, "recall": score.recall}
    return figures
