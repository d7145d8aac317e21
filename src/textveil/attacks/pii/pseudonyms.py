"""Two masked corpora linked through their pseudonyms.

One person keeps one pseudonym under one key. Whoever holds two files that were masked with the same key (or map) can tell
which documents of the one and of the other are about the same person, though not who it is; with one fact from each file
that may be enough. Keyed hashes and pairs of capitalised words are compared, the rarer the better.
"""

from __future__ import annotations

import re
from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed
from textveil.attacks.pii.matching import link, linked_evidence
from textveil.attacks.pii.seen import MaskedSeen
from textveil.core import Estimator
from textveil.core.example import AttackExample

_HASH = re.compile(r"\[[A-Z_]+_[0-9a-f]{12}\]")
_NAMES = re.compile(r"(?<![\w'-])(?=([^\W\d_a-z][\w'-]+ [^\W\d_a-z][\w'-]+))")  # each two capitalised words in a row
_OTHERS = re.compile(r"\S+@example\.org|https://example\.org/\S+|(?<![\w])\d[\d ()./+-]{6,}\d(?!\w)")


class PseudonymLinkAttack(Estimator):
    """Find, for each document of one masked corpus, the document of the other about the same person."""

    name = "pii.pseudonyms"
    sees = MaskedSeen
    needs: tuple[str, ...] = ("others",)

    def run(self, exposure: MaskedSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        others = needed(self, "others", exposure.others)
        candidates = [mask_keys(text) for text in others]
        documents = [mask_keys(text) for text in exposure.texts]
        guesses, _ = link(documents, candidates, rng)
        shared = set().union(*documents, set()) & set().union(*candidates, set())
        notes = (f"{len(shared)} pseudonyms, hashes or invented values stand in both corpora",)
        return linked_evidence(self.name, guesses, exposure.truth, len(others), notes)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.pii.examples import pseudonyms_told

        return AttackExample(cls(), pseudonyms_told)


def mask_keys(text: str) -> set[str]:
    """What may stand for a person in masked text.

    >>> sorted(mask_keys("[PERSON_0123456789ab] met Robin Ashford."))
    ['Robin Ashford', '[PERSON_0123456789ab]']
    """
    return {key for pattern in (_HASH, _NAMES, _OTHERS) for key in pattern.findall(text)}


__all__ = ["PseudonymLinkAttack", "mask_keys"]
