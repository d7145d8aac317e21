"""Scores of many documents with intervals: documents are drawn with replacement, whole, since spans of one document
are alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.pii.spans import Span

from .matching import bare, total_reward
from .rewards import MEASURES, Scheme

DRAWS = 2000
LEVEL = 0.95


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
    drawn = _drawn(sums, seed, draws)
    return {m: _score(sums.sum(axis=0)[None, :], drawn, 2 + n) for n, m in enumerate(MEASURES)}


def _drawn(sums: NDArray[np.float64], seed: int, draws: int) -> NDArray[np.float64]:
    """Sums over documents drawn with replacement, one row a draw."""
    if not len(sums):
        return np.zeros((1, sums.shape[1]))
    counts = np.random.default_rng(seed).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=draws)
    return counts @ sums


def _score(whole: NDArray[np.float64], drawn: NDArray[np.float64], column: int) -> Score:
    (precision,), (recall,), (f1,) = _ratios(whole, column)
    ends = {
        name: tuple(float(v) for v in np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
        for name, values in zip(("precision", "recall", "f1"), _ratios(drawn, column), strict=True)
    }
    return Score(float(precision), float(recall), float(f1), ends)  # type: ignore[arg-type]


def _ratios(sums: NDArray[np.float64], column: int) -> tuple[NDArray[np.float64], ...]:
    """Precision, recall and F1; nothing found and nothing to find counts as 0."""
    gold, found, earned = sums[:, 0], sums[:, 1], sums[:, column]

    def ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)

    return ratio(earned, found), ratio(earned, gold), ratio(2 * earned, gold + found)


def difference(
    one: NDArray[np.float64], other: NDArray[np.float64], measure: str, *, seed: int = 0, draws: int = DRAWS
) -> tuple[float, tuple[float, float]]:
    """F1 of one system less that of another on the same documents, with its interval: both are drawn together."""
    column = 2 + MEASURES.index(measure)
    width = one.shape[1]
    both = np.hstack([one, other])
    drawn = _drawn(both, seed, draws)
    values = _ratios(drawn[:, :width], column)[2] - _ratios(drawn[:, width:], column)[2]
    whole = both.sum(axis=0)[None, :]
    value = _ratios(whole[:, :width], column)[2] - _ratios(whole[:, width:], column)[2]
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(value[0]), (float(low), float(high))


__all__ = ["DRAWS", "LEVEL", "DocumentSpans", "Score", "difference", "scores_of", "sums_of"]
