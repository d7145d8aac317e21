"""Probing sentences: the paper's Table 1. Fill a template with each term and see what the model extracts.

The adversary has the model, so it reads the score of each probe, not only whether it was extracted. Terms that were trained
on should not score higher than others: a permutation test of the two groups says whether they do, whatever the law of the
scores. `AnswersSeen.scores` takes the probes and gives a row for each: its score, and 1 if the term was extracted."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import AnswersSeen, check_exposure, needed, scored_by
from textveil.attacks.hashed.table import term_evidence
from textveil.attacks.permutation import permutation_p
from textveil.core import BadInput, Estimator
from textveil.core.example import AttackExample


class ProbingAttack(Estimator):
    """`candidates` are the probes, labelled with their terms."""

    name = "hashed.probing"
    sees = AnswersSeen
    needs: tuple[str, ...] = ("scores",)

    def run(self, exposure: AnswersSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        scores, member = needed(self, "scores", exposure.scores), scored_by(self, exposure.truth)
        shown = np.asarray(scores(list(exposure.candidates.texts)), dtype=np.float64)
        if shown.shape != (len(exposure.candidates), 2):
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

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.hashed.examples import scores_told

        return AttackExample(cls(), scores_told)
