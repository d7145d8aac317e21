"""Names, birth dates and numbers that are still there: masked documents linked to records by what names a person.

The adversary has the records (or a list of the people) and reads what the masks left: every word, number and date of a text
that is part of a name, birth date or number of a record. A first name that stands alone, a family name in lower case, a birth
date in another form are enough where few people share them. Success is the share of documents whose person is named.

Source. Record linkage by agreement weights: Fellegi and Sunter 1969, with weights from the records' own frequencies.
"""

from __future__ import annotations

from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed
from textveil.attacks.pii.matching import keys_of, link, linked_evidence, text_keys
from textveil.attacks.pii.seen import MaskedSeen
from textveil.core import Estimator
from textveil.core.example import AttackExample


class RefoundAttack(Estimator):
    """Name the person of each masked document by what names people.

    Examples
    --------
    >>> import numpy as np
    >>> from textveil.attacks.exposure import Owners
    >>> from textveil.noise import secure
    >>> names = [["Anna Meyer"], ["Bo Lind"]]
    >>> seen = MaskedSeen(["[PERSON] called, meyer said."], names, truth=Owners(np.array([0])))
    >>> RefoundAttack().run(seen, rng=secure()).value
    1.0
    """

    name = "pii.refound"
    sees = MaskedSeen
    needs: tuple[str, ...] = ("names",)

    def run(self, exposure: MaskedSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        people = needed(self, "names", exposure.names)
        candidates = [{key for value in person for key in keys_of(value)} for person in people]
        documents = [text_keys(text) for text in exposure.texts]
        guesses, _ = link(documents, candidates, rng)
        touched = sum(bool(document & candidates[g]) for document, g in zip(documents, guesses.tolist(), strict=True))
        notes = (
            f"{len(people)} people; {touched} of {len(documents)} documents hold a part of the name, birth date or number of "
            "the person that was guessed",
        )
        return linked_evidence(self.name, guesses, exposure.truth, len(people), notes)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.pii.examples import names_told

        return AttackExample(cls(), names_told)


__all__ = ["RefoundAttack"]
