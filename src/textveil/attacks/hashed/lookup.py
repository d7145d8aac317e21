"""Plain look-up before sealing: is there anything in the slots that this term would have touched?

A table that holds only what training set answers by itself: a slot of a term that was never met is empty but for
collisions, whose rate is the share of filled slots. In a sealed table every slot is filled and the look-up says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, scored_by
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import term_evidence
from textveil.core import Estimator
from textveil.core.example import AttackExample


class LookupAttack(Estimator):
    """Score: the share of the term's slots that hold a weight; 0 if the first, the word itself, does not."""

    name = "hashed.lookup"
    sees = TableSeen
    needs: tuple[str, ...] = ()

    def run(self, exposure: TableSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        member, view, candidates = scored_by(self, exposure.truth), exposure.table, exposure.terms
        if view.present is None:
            scores, filled = np.ones(len(candidates)), 1.0
        else:
            some = np.any(view.present, axis=1)
            held = [some[view.touched(*c).slots] for c in candidates]
            scores, filled = np.array([row[0] * row.mean() for row in held]), float(some.mean())
        return term_evidence(
            self.name,
            scores,
            member,
            (f"share of a term's slots that hold a weight; {filled:.3f} of all slots do",),
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.hashed.examples import open_table_told

        return AttackExample(cls(), open_table_told)
