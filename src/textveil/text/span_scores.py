"""How well spans were found beside those that people marked: exactly, and by overlap, with intervals over documents.

    strict     a found span is right if a marked one of its label has the same start and end
    overlap    a found span is right if it shares a character with a marked one of its label; each of them counts once, in
               the pairing that makes most of them right (so three finds inside one clause are one right and two wrong)

Precision is the right share of the found, recall that of the marked, F1 their harmonic mean. Intervals are bootstrap
intervals: documents are drawn again with replacement, whole, since the spans of one document are alike. Other measures that
give each document a row of sums (marked, found, what was earned) take `drawn_sums`, `ratios` and `limits` from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Place = tuple[int, int]
DRAWS, LEVEL = 2000, 0.95
MEASURES = ("strict", "overlap")
FIGURES = ("precision", "recall", "f1")


class DocumentCounts(NamedTuple):
    """Spans of one label in one document."""

    marked: int
    found: int
    strict: int
    overlap: int


def count_spans(marked: Sequence[Place], found: Sequence[Place]) -> DocumentCounts:
    """Compare the spans of one label in one document; one that is there twice counts once.

    >>> count_spans([(0, 10), (20, 30)], [(0, 10), (21, 24), (25, 40)])
    DocumentCounts(marked=2, found=3, strict=1, overlap=2)
    """
    own, theirs = sorted(set(marked)), sorted(set(found))
    return DocumentCounts(len(own), len(theirs), len(set(own) & set(theirs)), _pairs(own, theirs))


def _pairs(marked: Sequence[Place], found: Sequence[Place]) -> int:
    """The most pairs of overlapping spans in which each span stands once."""
    if not marked or not found:
        return 0
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    a, b = np.array(marked), np.array(found)
    touching = (a[:, None, 0] < b[None, :, 1]) & (b[None, :, 0] < a[:, None, 1])
    return int((maximum_bipartite_matching(csr_matrix(touching), perm_type="column") >= 0).sum())


def score_spans(counts: Sequence[DocumentCounts], *, draws: int = DRAWS, seed: int = 0) -> dict[str, Any]:
    """Figures of all documents together, each with its 95 % interval, as JSON values.

    >>> found = score_spans([count_spans([(0, 9)], [(0, 9)]), count_spans([(0, 9)], [(1, 9)])])
    >>> found["strict"]["f1"], found["overlap"]["f1"], found["marked"]
    (0.5, 1.0, 2)
    """
    table = np.array(counts, dtype=np.float64).reshape(-1, len(DocumentCounts._fields))
    whole = table.sum(axis=0)
    again = drawn_sums(table, draws, seed)
    shown: dict[str, Any] = {"marked": int(whole[0]), "found": int(whole[1])}
    for place, measure in enumerate(MEASURES, 2):
        shown[measure] = {name: float(value[0]) for name, value in ratios(whole[None, :], place).items()}
        shown[measure]["intervals"] = {name: limits(values) for name, values in ratios(again, place).items()}
    return shown


def drawn_sums(table: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """Sums over documents drawn with replacement, a row for each draw."""
    if not len(table):
        return np.zeros((1, table.shape[1]))
    shares = np.full(len(table), 1 / len(table))
    return np.random.default_rng(seed).multinomial(len(table), shares, size=draws) @ table


def ratios(sums: NDArray[np.float64], place: int) -> dict[str, NDArray[np.float64]]:
    """Precision, recall and F1 of each row, 0 where there is nothing; `place` is the column of what was earned."""
    marked, found, right = sums[:, 0], sums[:, 1], sums[:, place]
    parts = {"precision": (right, found), "recall": (right, marked), "f1": (2 * right, marked + found)}
    return {n: np.divide(a, b, out=np.zeros_like(a), where=b > 0) for n, (a, b) in parts.items()}


def limits(values: NDArray[np.float64]) -> list[float]:
    """The ends of the 95 % interval."""
    return [float(limit) for limit in np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])]


__all__ = ["DRAWS", "LEVEL", "DocumentCounts", "count_spans", "drawn_sums", "limits", "ratios", "score_spans"]
