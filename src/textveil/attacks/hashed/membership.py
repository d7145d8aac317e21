"""Was this term in the training text? Read from the table alone, sealed or not, without any training.

Three detectors, each of which needs trained rows to differ from filled ones in some way:

correlation   the rows of one term were trained together and lean the same way; filled rows are independent. Score: the mean
              product of the standardised contrasts (last label less first) over pairs of the term's rows.
granularity   training sets many rows to the very same number (all features that occur once, in the same place), and sums of
              few steps have short mantissas; draws of a continuous law do neither. Score: how many rows of the table equal
              the term's row exactly (log2), plus the zero bits that end its mantissas.
likelihood    the table is a mixture of trained and filled rows, and the fill's law is published: where the table has more
              rows than the law alone would put, rows are more likely trained. Score: sum of log ratios in bins of equal
              chance under the law."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, scored_by
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import Floats, TableView, bins, term_evidence
from textveil.core import BadInput, Estimator
from textveil.core.example import AttackExample

DETECTORS = ("correlation", "granularity", "likelihood")
_BINS = 48  # each way


class TermMembershipAttack(Estimator):
    """Tell terms that training saw from others, by the table alone.

    Parameters
    ----------
    detector
        How a term is judged: one of DETECTORS; the evidence names it in its metric.
    """

    name = "hashed.membership"
    sees = TableSeen
    needs: tuple[str, ...] = ()
    variants = tuple({"detector": detector} for detector in DETECTORS)  # an audit runs them all

    def __init__(self, detector: str = "likelihood"):
        self.detector = detector

    def run(self, exposure: TableSeen, *, rng: Any) -> Evidence:
        if self.detector not in DETECTORS:
            raise BadInput(f"hashed.membership has no detector '{self.detector}'", possible=", ".join(DETECTORS))
        check_exposure(self, exposure)
        member, view, candidates = scored_by(self, exposure.truth), exposure.table, exposure.terms
        score = _SCORES[self.detector](view)
        scores = np.array([score(view.touched(*c).slots) for c in candidates])
        return term_evidence(
            self.name, scores, member, (f"detector: {self.detector}; table alone",), metric=f"auc ({self.detector})"
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.hashed.examples import sealed_table_told

        return AttackExample(cls(), sealed_table_told)


def _correlation(view: TableView) -> Any:
    contrast = contrasts(view.weights)
    middle = float(np.median(contrast))
    spread = float(np.median(np.abs(contrast - middle))) or 1.0
    lean = np.clip((contrast - middle) / spread, -8, 8)  # one huge row must not speak for all pairs

    def score(slots: NDArray[Any]) -> float:
        own = lean[slots]
        pairs = len(own) * (len(own) - 1)
        return float((own.sum() ** 2 - (own**2).sum()) / pairs) if pairs else float(abs(own.sum()))

    return score


def _granularity(view: TableView) -> Any:
    keys = _keys(view.weights)
    ordered = np.sort(keys)

    def score(slots: NDArray[Any]) -> float:
        own = keys[slots]
        twins = np.searchsorted(ordered, own, "right") - np.searchsorted(ordered, own, "left")
        rows = np.asarray(view.weights)[slots]
        empty = np.zeros(len(slots), bool) if view.present is None else ~view.present[slots].any(axis=1)
        found = np.where(empty, 0.0, np.log2(twins) + trailing_zeros(rows).mean(axis=1))  # absent rows are all alike
        return float(found.mean())

    return score


def _likelihood(view: TableView) -> Any:
    law = view.fitted()
    places = bins(view.weights, law, _BINS)
    held = np.ones(len(places), bool) if view.present is None else np.any(view.present, axis=1)
    counts = np.bincount(places[held], minlength=_BINS ** view.weights.shape[1]) + 1.0
    ratio = np.log(counts / counts.mean())
    return lambda slots: float(np.where(held[slots], ratio[places[slots]], 0.0).sum())


_SCORES = {"correlation": _correlation, "granularity": _granularity, "likelihood": _likelihood}


def contrasts(weights: Floats) -> Floats:
    """The last label's weight less the first's: which way a row leans.

    >>> contrasts(np.array([[0.5, 2.0]])).tolist()
    [1.5]
    """
    return np.asarray(weights[:, -1], dtype=np.float64) - weights[:, 0]


def trailing_zeros(rows: Floats) -> NDArray[np.int64]:
    """Zero bits at the end of each mantissa (single precision); all 23 for a power of two, none for 0 itself.

    >>> trailing_zeros(np.array([1.0, 1.5, 0.1, 0.0])).tolist()
    [23, 22, 0, 0]
    """
    bits = np.asarray(rows, dtype=np.float32).view(np.uint32) | np.uint32(1 << 23)
    lowest = bits & (~bits + np.uint32(1))
    return np.where(np.asarray(rows) == 0, 0, np.log2(lowest.astype(np.float64))).astype(np.int64)


def _keys(weights: Floats) -> NDArray[np.uint64]:
    """One number a row, equal exactly when the rows are (two labels; of more, the first and the last are compared)."""
    ends = np.ascontiguousarray(np.asarray(weights, dtype=np.float32)[:, [0, -1]]).view(np.uint32).astype(np.uint64)
    return (ends[:, 0] << np.uint64(32)) | ends[:, 1]
