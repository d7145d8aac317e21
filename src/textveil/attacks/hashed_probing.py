"""Probing sentences: the paper's Table 1. Fill a template with each term and see what the model extracts.

The adversary has the model, so it reads the score of each probe, not only whether it was extracted. Terms that were trained
on should not score higher than others: a permutation test of the two groups says whether they do, whatever the law of the
scores. `Exposure.query` takes the probes and gives a row for each: its score, and 1 if the term was extracted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import BadInput, Estimator
from .evidence import Evidence
from .exposure import Exposure
from .hashed_table import asked, term_evidence
from .permutation import permutation_p


class ProbingAttack(Estimator):
    """`candidates` are the probes, labelled with their terms."""

    name = "hashed.probing"
    needs = ("query", "candidates")

    def run(self, exposure: Exposure, *, rng: Any) -> Evidence:
        candidates, member = asked(exposure, self)
        assert exposure.query is not None
        shown = np.asarray(exposure.query([text for text, _ in candidates]), dtype=np.float64)
        if shown.shape != (len(candidates), 2):
            raise BadInput("a probed model answers with a score and a 0 or 1 for each probe")
        chance = permutation_p(shown[:, 0], member, rng)
        found = [int(shown[group, 1].sum()) for group in (member, ~member)]
        return term_evidence(
            self.name,
            shown[:, 0],
            member,
            (
                f"extracted: {found[0]} of {int(member.sum())} trained terms, {found[1]} of {int((~member).sum())} others",
                f"permutation test, trained terms score higher: p = {chance:.4g}",
            ),
        )
