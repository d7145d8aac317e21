"""The redacted document (Remark 2): all text is known but one term; which of the candidates was it?

A candidate put into the gaps touches one slot for each feature of its contexts, some inside marked passages and some
outside. All text around is known, so the adversary knows thousands of rows that were trained, on both sides, and thereby
how trained weights of either side are spread; how filled ones are spread is published. Each slot of a candidate gives a
likelihood ratio, and a candidate's slots are taken together: what one row hides, thirty may show. Nothing is retrained.

Score: the sum of log ratios in bins of equal chance under the law of the fill; a slot that is empty (before sealing) tells
at once. Scores of one redaction are compared with each other: they are standardised by the candidates of that redaction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed, scored_by
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import TableView, Touched, bins, term_evidence
from textveil.core import Estimator
from textveil.core.example import AttackExample

_BINS = 24
_EMPTY = np.log(1e-3)  # an empty slot where training would have set a weight


class RedactedAttack(Estimator):
    """`candidates` are terms labelled with the number of their redaction; `known` are the slots of the known text."""

    name = "hashed.redacted"
    sees = TableSeen
    needs: tuple[str, ...] = ("known",)

    def run(self, exposure: TableSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        member, view, candidates = scored_by(self, exposure.truth), exposure.table, exposure.terms
        ratio = _ratios(view, needed(self, "the text around the gaps", exposure.known))
        raw = np.array([ratio(view.touched(*c)) for c in candidates])
        gaps = np.unique(np.asarray([label for _, label in candidates]), return_inverse=True)[1]
        scores = standardised(raw, gaps)
        first = [_is_first(raw[gaps == g], member[gaps == g], rng) for g in range(int(gaps.max()) + 1)]
        each = int(np.median(np.bincount(gaps)))
        note = f"the right term comes first in {sum(first)} of {len(first)} redactions (candidates each: {each})"
        return term_evidence(self.name, scores, member, (note, "joint likelihood over context features, no training"))

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.hashed.examples import sealed_table_told

        return AttackExample(cls(), sealed_table_told)


def _ratios(view: TableView, text_around: Touched) -> Any:
    law, size = view.fitted(), _BINS ** view.weights.shape[1]
    known, sides = text_around.slots, _sides(text_around)
    tables = []
    for side in (0, 1):
        own = known[sides == side]
        counts = np.bincount(bins(view.weights[own], law, _BINS), minlength=size) + 1.0
        tables.append(np.log(counts / counts.mean()))
    logs = np.stack(tables)

    def score(touched: Touched) -> float:
        found = logs[_sides(touched), bins(view.weights[touched.slots], law, _BINS)]
        if view.present is not None:
            found = np.where(view.present[touched.slots].any(axis=1), found, _EMPTY)
        return float(found.sum())

    return score


def _sides(touched: Touched) -> NDArray[np.integer[Any]]:
    return np.zeros(len(touched.slots), np.int64) if touched.sides is None else touched.sides


def standardised(scores: NDArray[np.floating[Any]], groups: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Each score less the mean of its group, in units of the group's spread.

    >>> standardised(np.array([1.0, 3.0, 5.0, 5.0]), np.array([0, 0, 1, 1])).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    found = np.zeros(len(scores))
    for group in np.unique(groups):
        own = scores[groups == group]
        found[groups == group] = (own - own.mean()) / (own.std() or 1.0)
    return found


def _is_first(scores: NDArray[Any], member: NDArray[np.bool_], rng: Any) -> bool:
    tie = rng.permutation(len(scores))
    return bool(member[tie][scores[tie].argmax()])
