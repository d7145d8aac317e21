"""Age, place, date, job: what singles a person out although no name is left.

None of these is a name, and each is shared by many; together they often fit one record alone. The adversary has records
with such fields, looks which of their values stand in a masked text, and names the record that agrees in the rarest ones.
The evidence also counts the documents for which a single record fits best.

Source. Sweeney 2000 (date of birth, sex and postcode); weights as in Fellegi and Sunter 1969.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed
from textveil.attacks.pii.matching import keys_of, link, linked_evidence, text_keys
from textveil.attacks.pii.seen import MaskedSeen
from textveil.core import Estimator
from textveil.core.example import AttackExample


class QuasiIdentifierAttack(Estimator):
    """Name the person of each masked document by facts that many share."""

    name = "pii.quasi"
    sees = MaskedSeen
    needs: tuple[str, ...] = ("facts",)

    def run(self, exposure: MaskedSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        people = needed(self, "facts", exposure.facts)
        candidates = [{key for value in person for key in keys_of(value)} for person in people]
        documents = [text_keys(text) for text in exposure.texts]
        guesses, ties = link(documents, candidates, rng)
        alone = int(np.count_nonzero(ties == 1))
        notes = (f"{alone} of {len(documents)} documents fit one of {len(people)} records better than all others",)
        return linked_evidence(self.name, guesses, exposure.truth, len(people), notes)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.pii.examples import facts_told

        return AttackExample(cls(), facts_told)


__all__ = ["QuasiIdentifierAttack"]
