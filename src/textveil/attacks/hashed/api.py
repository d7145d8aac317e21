"""Behind an API (section 6.4.1): the adversary sends texts and gets spans back, no scores and no table.

It asks about each term with several sentences and counts how often the term is part of what comes back. One template
answers yes or no; many of them, from bland to telling, measure how near a term is to being extracted."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import AnswersSeen, Members, check_exposure, needed, scored_by
from textveil.attacks.hashed.table import term_evidence
from textveil.core import BadInput, Estimator
from textveil.core.example import AttackExample


class ApiAttack(Estimator):
    """`candidates` are probes labelled with their terms, several a term; `query` gives the share of the term that came back.

    `truth` has a 1 or 0 for each probe, the same for all probes of a term.
    """

    name = "hashed.api"
    sees = AnswersSeen
    needs: tuple[str, ...] = ("query",)

    def run(self, exposure: AnswersSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        query, inside = needed(self, "query", exposure.query), scored_by(self, exposure.truth)
        terms, place = np.unique(np.asarray(exposure.candidates.labels), return_inverse=True)
        shown = np.asarray(query(list(exposure.candidates.texts)), dtype=np.float64)
        if shown.shape != place.shape:
            raise BadInput("a model behind an API answers with one share for each probe")
        scores = np.bincount(place, shown) / np.bincount(place)
        shares = np.bincount(place, inside) / np.bincount(place)
        member = scored_by(self, Members((shares > 0.5).astype(np.int64)))
        answered = float((shown > 0).mean())
        note = f"only spans are seen; {len(place) // len(terms)} probes a term, {answered:.3f} of them answered"
        return term_evidence(self.name, scores, member, (note,))

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.hashed.examples import spans_told

        return AttackExample(cls(), spans_told)
