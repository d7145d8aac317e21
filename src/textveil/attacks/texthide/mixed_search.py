"""Which sentences of an index are mixed in a hidden encoding: three searches, from the paper's own to the one that ends it.

texthide.rss     the paper's: the sentence with the largest cosine to the hidden encoding. At chance once there is a mask.
texthide.absolute    mask-free: |hidden| = |mixed|, so absolute values are compared. Exact for k = 1.
texthide.unmix   masks are found and taken off (mask_recovery); then hidden - mean = sum of shares * (e - mean) holds without
                 any noise, in 384 numbers with k unknown shares: orthogonal matching pursuit in the metric in which public
                 text is round. The residual says by itself when the answer is exact. Encodings of several epochs share the
                 pool, so more of them make the masks surer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.texthide.mask_recovery import EncodingLaw, Floats, mixing_spread, recover_masks
from textveil.attacks.texthide.seen import MixedSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample

Guesses = npt.NDArray[np.int64]
BLOCK = 512  # hidden encodings that are compared with the index at once


def unit_rows(rows: Floats) -> Floats:
    """Rows of length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-30))


def nearest(queries: Floats, index: Floats) -> Guesses:
    """For each query the row of the index with the largest cosine."""
    rows = unit_rows(index)
    return np.concatenate(
        [np.argmax(unit_rows(queries[i : i + BLOCK]) @ rows.T, 1) for i in range(0, len(queries), BLOCK)]
    )


class _Search(Estimator):
    """What the three share: they guess rows of the index, and are right about those that were mixed in."""

    name = ""
    sees = MixedSeen
    needs: tuple[str, ...] = ()
    timed = True

    def run(self, exposure: MixedSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        if exposure.truth is None:
            raise BadInput(f"the attack {self.name} can be scored only when the truth tells what was mixed")
        guesses, note = self.guesses(exposure)
        truth = np.asarray(exposure.truth.ids).reshape(len(exposure.hidden), exposure.mixed)
        right = (guesses[:, :, None] == truth[:, None, :]).any(2)
        chance = min(1.0, exposure.mixed / len(exposure.index))
        return Evidence(
            self.name,
            "sentences named that are mixed in",
            float(right.mean()),
            chance,
            int(right.sum()),
            right.size,
            unit=Unit.EXAMPLE,
            dependent=True,
            notes=(f"an index of {len(exposure.index):,} sentences, {exposure.mixed} mixed", *note),
        )

    def guesses(self, exposure: MixedSeen) -> tuple[Guesses, tuple[str, ...]]:
        raise NotImplementedError


class SimilaritySearch(_Search):
    """The paper's RSS: name the sentence whose encoding is most alike to the hidden one."""

    name = "texthide.rss"

    def guesses(self, exposure: MixedSeen) -> tuple[Guesses, tuple[str, ...]]:
        return nearest(exposure.hidden, exposure.index)[:, None], ()

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import unmasked_told

        return AttackExample(cls(), unmasked_told)


class AbsoluteSearch(_Search):
    """Compare absolute values, which no mask changes."""

    name = "texthide.absolute"

    def guesses(self, exposure: MixedSeen) -> tuple[Guesses, tuple[str, ...]]:
        usual = np.abs(exposure.public).mean(0)
        return nearest(np.abs(exposure.hidden) - usual, np.abs(exposure.index) - usual)[:, None], ()

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import mixing_told

        return AttackExample(cls(), mixing_told)


class UnmixAttack(_Search):
    """Take the masks off, then take the mixture apart."""

    name = "texthide.unmix"

    def guesses(self, exposure: MixedSeen) -> tuple[Guesses, tuple[str, ...]]:
        law = EncodingLaw.of(exposure.public, mixing_spread(exposure.mixed))
        rows = np.asarray(exposure.hidden, np.float64)
        if exposure.masks:
            masks = recover_masks(rows, law, exposure.masks)
            rows = rows * masks.signs[masks.group]
        chosen, residual = pursuit(rows, np.asarray(exposure.index, np.float64), law, exposure.mixed)
        exact = float((residual < 1e-3).mean())
        return chosen, (f"{exact:.1%} of the mixtures are explained without a rest",)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import mixing_told

        return AttackExample(cls(), mixing_told)


def pursuit(rows: Floats, index: Floats, law: EncodingLaw, mixed: int) -> tuple[Guesses, Floats]:
    """Rows of the index whose weighted sum is each row, by orthogonal matching pursuit; and the share that is left."""
    root = np.linalg.cholesky(law.precision)
    atoms = (index - law.mean) @ root
    targets = (rows - law.mean) @ root
    units = unit_rows(atoms)
    chosen, left = np.zeros((len(rows), mixed), np.int64), np.zeros(len(rows))
    for place, target in enumerate(targets):
        rest = target
        picked: list[int] = []
        for _ in range(min(mixed, len(index))):
            scores = units @ rest
            scores[picked] = -np.inf
            picked.append(int(np.argmax(scores)))
            shares = np.linalg.lstsq(atoms[picked].T, target, rcond=None)[0]
            rest = target - shares @ atoms[picked]
            if np.linalg.norm(rest) < 1e-5 * np.linalg.norm(target):  # fewer than k: one sentence was drawn twice
                break
        chosen[place] = (picked + picked[:1] * mixed)[:mixed]
        left[place] = np.linalg.norm(rest) / max(float(np.linalg.norm(target)), 1e-30)
    return chosen, left


__all__ = ["AbsoluteSearch", "SimilaritySearch", "UnmixAttack", "nearest", "pursuit", "unit_rows"]
