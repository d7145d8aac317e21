"""Plain look-up before sealing: is there anything in the slots that this term would have touched?

A table that holds only what training set answers by itself: a slot of a term that was never met is empty but for
collisions, whose rate is the share of filled slots. In a sealed table every slot is filled and the look-up says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Estimator
from .evidence import Evidence
from .exposure import Exposure
from .hashed_table import TableView, asked, term_evidence


class LookupAttack(Estimator):
    """Score: the share of the term's slots that hold a weight; 0 if the first, the word itself, does not."""

    name = "hashed.lookup"
    needs = ("table", "candidates")

    def run(self, exposure: Exposure, *, rng: Any) -> Evidence:
        candidates, member = asked(exposure, self)
        view: TableView = exposure.table
        if view.present is None:
            scores, filled = np.ones(len(candidates)), 1.0
        else:
            some = view.present.any(axis=1)
            held = [some[view.touched(*c).slots] for c in candidates]
            scores, filled = np.array([row[0] * row.mean() for row in held]), float(some.mean())
        return term_evidence(
            self.name,
            scores,
            member,
            (f"share of a term's slots that hold a weight; {filled:.3f} of all slots do",),
        )
