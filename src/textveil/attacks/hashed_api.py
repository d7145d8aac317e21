"""Behind an API (section 6.4.1): the adversary sends texts and gets spans back, no scores and no table.

It asks about each term with several sentences and counts how often the term is part of what comes back. One template
answers yes or no; many of them, from bland to telling, measure how near a term is to being extracted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import BadInput, Estimator
from .evidence import Evidence
from .exposure import Exposure, Labelled
from .hashed_table import term_evidence


class ApiAttack(Estimator):
    """`candidates` are probes labelled with their terms, several a term; `query` gives the share of the term that came back.

    `truth` has a 1 or 0 for each probe, the same for all probes of a term.
    """

    name = "hashed.api"
    needs = ("query", "candidates")

    def run(self, exposure: Exposure, *, rng: Any) -> Evidence:
        exposure.require(self.name, self.needs)
        assert exposure.query is not None and isinstance(exposure.candidates, Labelled)
        if exposure.truth is None:
            raise BadInput(
                f"the attack {self.name} can be scored only when the truth tells which terms were trained on"
            )
        terms, place = np.unique(np.asarray(exposure.candidates.labels), return_inverse=True)
        shown = np.asarray(exposure.query(list(exposure.candidates.texts)), dtype=np.float64)
        if shown.shape != place.shape:
            raise BadInput("a model behind an API answers with one share for each probe")
        scores = np.bincount(place, shown) / np.bincount(place)
        member = np.bincount(place, np.asarray(exposure.truth)) / np.bincount(place) > 0.5
        if not 2 <= member.sum() <= len(member) - 2:
            raise BadInput(
                f"the attack {self.name} needs two terms or more that were trained on, and two that were not"
            )
        answered = float((shown > 0).mean())
        note = f"only spans are seen; {len(place) // len(terms)} probes a term, {answered:.3f} of them answered"
        return term_evidence(self.name, scores, member, (note,))
