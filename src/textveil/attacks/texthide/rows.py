"""The tokens of a batch, read off the gradient of the word embeddings: the row of a token that is not there is zero.

Claim. Row t of dL/dE is the sum, over the places where token t stands, of the gradient that reaches that place. Masks and
mixing change what reaches it, and leave it zero for tokens that are not in the batch. Nothing is computed: one looks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed
from textveil.attacks.texthide.seen import GradientSeen
from textveil.attacks.texthide.told_apart import told_apart
from textveil.core import Estimator
from textveil.core.example import AttackExample


class RowsAttack(Estimator):
    """Name the tokens whose embedding has a gradient."""

    name = "texthide.rows"
    sees = GradientSeen
    needs: tuple[str, ...] = ("word_rows",)
    timed = True

    def run(self, exposure: GradientSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        rows = needed(self, "word_rows", exposure.word_rows)
        named = np.abs(rows).max(1) > 0
        notes = (f"{int(named.sum()):,} of {len(rows):,} embeddings have a gradient",)
        return told_apart(self, "tokens of the batch named", named, exposure.truth, notes)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import tokens_told

        return AttackExample(cls(), tokens_told)


__all__ = ["RowsAttack"]
