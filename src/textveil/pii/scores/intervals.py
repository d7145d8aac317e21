"""Scores of many documents with intervals: documents are drawn with replacement, whole, since spans of one document
are alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.pii.spans import Span
from textveil.text.span_scores import DRAWS, drawn_sums, limits, ratios

from .matching import bare, total_reward
from .rewards import MEASURES, Scheme


class DocumentSpans(NamedTuple):
    """What is right and what was found in one document."""

    name: str
    gold: Sequence[Span]
    found: Sequence[Span]


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 of one measure; each interval is (low, high)."""

    precision: float
    recall: float
    f1: float
    intervals: dict[str, tuple[float, float]]

    def to_json(self) -> dict[str, object]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
        }


def sums_of(documents: Iterable[DocumentSpans], scheme: Scheme, label: str | None = None) -> NDArray[np.float64]:
    """One row a document: gold spans, found spans, and the reward of each measure. With a label: spans of it alone."""
    rows = []
    for document in documents:
        gold = bare(s for s in document.gold if label is None or s.label == label)
        found = bare(s for s in document.found if label is None or s.label == label)
        rows.append([len(gold), len(found), *(total_reward(gold, found, m, scheme) for m in MEASURES)])
    return np.array(rows, dtype=np.float64).reshape(-1, 2 + len(MEASURES))


def scores_of(sums: NDArray[np.float64], *, seed: int = 0, draws: int = DRAWS) -> dict[str, Score]:
    """The scores of all measures, with bootstrap intervals over documents (percentiles)."""
    drawn = drawn_sums(sums, draws, seed)
    return {m: _score(sums.sum(axis=0)[None, :], drawn, 2 + n) for n, m in enumerate(MEASURES)}


def _score(whole: NDArray[np.float64], drawn: NDArray[np.float64], column: int) -> Score:
    values = {name: float(value[0]) for name, value in ratios(whole, column).items()}
    low_high = {name: limits(again) for name, again in ratios(drawn, column).items()}
    return Score(**values, intervals={name: (low, high) for name, (low, high) in low_high.items()})


def difference(
    one: NDArray[np.float64], other: NDArray[np.float64], measure: str, *, seed: int = 0, draws: int = DRAWS
) -> tuple[float, tuple[float, float]]:
    """F1 of one system less that of another on the same documents, with its interval: both are drawn together."""
    column, width, both = 2 + MEASURES.index(measure), one.shape[1], np.hstack([one, other])

    def gaps(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratios(sums[:, :width], column)["f1"] - ratios(sums[:, width:], column)["f1"]

    low, high = limits(gaps(drawn_sums(both, draws, seed)))
    return float(gaps(both.sum(axis=0)[None, :])[0]), (low, high)


__all__ = ["DocumentSpans", "Score", "difference", "scores_of", "sums_of"]
