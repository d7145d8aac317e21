"""Names and birth dates that a second recogniser finds in masked text, and the person that they name.

The adversary reads the masked text with a recogniser of his own, which has nothing in common with the one that masked. He
takes only what it marks, so, unlike `pii.refound`, he need not know beforehand what to look for; then he looks the values
up in his list of people. Success is the share of documents whose person he names. The notes say how much was marked, and in
how many documents a marked value stands that is a part of the right person's name, birth date or number.

Source. Two independent recognisers, as in capture and recapture; linkage as in `pii.refound`.
"""

from __future__ import annotations

from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed
from textveil.attacks.pii.matching import keys_of, link, linked_evidence
from textveil.attacks.pii.seen import MaskedSeen
from textveil.core import Estimator
from textveil.core.example import AttackExample


class RecognisedAttack(Estimator):
    """Name the person of each masked document by what a second recogniser marks in it.

    Examples
    --------
    >>> import numpy as np
    >>> from textveil.attacks.exposure import Owners
    >>> from textveil.noise import secure
    >>> names = [["Anna Meyer"], ["Bo Lind"]]
    >>> seen = MaskedSeen(["[PERSON] saw Lind."], names, recognised=[["Lind"]], truth=Owners(np.array([1])))
    >>> RecognisedAttack().run(seen, rng=secure()).value
    1.0
    """

    name = "pii.recognised"
    sees = MaskedSeen
    needs: tuple[str, ...] = ("names", "recognised")

    def run(self, exposure: MaskedSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        people, marked = needed(self, "names", exposure.names), needed(self, "recognised", exposure.recognised)
        candidates = [{key for value in person for key in keys_of(value)} for person in people]
        documents = [{key for value in own for key in keys_of(value)} for own in marked]
        guesses, _ = link(documents, candidates, rng)
        return linked_evidence(
            self.name, guesses, exposure.truth, len(people), _notes(exposure, marked, documents, candidates)
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.pii.examples import names_recognised

        return AttackExample(cls(), names_recognised)


def _notes(exposure: MaskedSeen, marked: Any, documents: list[set[str]], candidates: list[set[str]]) -> tuple[str, ...]:
    count = sum(map(len, marked))
    if exposure.truth is None:
        return (f"{count} values were marked in {len(documents)} documents",)
    owners = exposure.truth.ids.tolist()
    own = sum(bool(document & candidates[o]) for document, o in zip(documents, owners, strict=True) if o >= 0)
    return (
        f"{count} values were marked in {len(documents)} documents; {own} documents hold a marked value that is a part of "
        "their person's name, birth date or number",
    )


__all__ = ["RecognisedAttack"]
