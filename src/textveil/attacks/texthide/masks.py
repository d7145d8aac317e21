"""Which encodings were hidden by the same mask: sorted by the traces that the encoder's mean and covariance leave.

See `mask_recovery` for the method. Success: the share of encodings that are put to the right mask. Groups get the numbers of
masks on one half of the encodings (the pairing with the largest overlap) and are scored on the other half, so that an attack
without skill is at 1 / m.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.texthide.mask_recovery import EncodingLaw, mixing_spread, recover_masks
from textveil.attacks.texthide.seen import HiddenSeen, MaskNumbers
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample


class MasksAttack(Estimator):
    """Sort hidden encodings by their masks."""

    name = "texthide.masks"
    sees = HiddenSeen
    needs: tuple[str, ...] = ()
    timed = True

    def run(self, exposure: HiddenSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        if exposure.truth is None:
            raise BadInput(f"the attack {self.name} can be scored only when the truth tells the masks")
        if exposure.masks < 2 or len(exposure.hidden) < 4:
            raise BadInput(f"the attack {self.name} needs two masks or more, and four encodings")
        law = EncodingLaw.of(exposure.public, mixing_spread(exposure.mixed))
        group = recover_masks(exposure.hidden, law, exposure.masks).group
        hits, tries = matched(group, exposure.truth, rng)
        notes = (f"{len(group):,} encodings, {exposure.masks} masks, {len(exposure.public):,} public encodings",)
        return Evidence(
            self.name,
            "encodings put to the right mask",
            hits / tries,
            1 / exposure.masks,
            hits,
            tries,
            unit=Unit.EXAMPLE,
            dependent=True,
            notes=notes,
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import masks_told

        return AttackExample(cls(), masks_told)


def matched(group: Any, truth: MaskNumbers, rng: Any) -> tuple[int, int]:
    """Groups get numbers on one half and are scored on the other: (right, tried)."""
    from scipy.optimize import linear_sum_assignment

    numbers = np.asarray(truth.ids)
    order = rng.permutation(len(numbers))
    learn, test = order[::2], order[1::2]
    overlap = np.zeros((int(group.max()) + 1, int(numbers.max()) + 1))
    np.add.at(overlap, (group[learn], numbers[learn]), 1)
    name_of = np.full(len(overlap), -1)
    rows, columns = linear_sum_assignment(-overlap)
    name_of[rows] = columns
    return int((name_of[group[test]] == numbers[test]).sum()), len(test)


__all__ = ["MasksAttack", "matched"]
