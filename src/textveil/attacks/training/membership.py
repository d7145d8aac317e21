"""Membership inference from losses: what was trained on is fitted better than what was not.

training.membership   the loss itself (Yeom et al. 2018): "member" if it is below what a tenth of the adversary's own
                      outsiders have
training.lira         how far the loss falls short of what reference models, which never saw the example, give it, in
                      their deviations (offline likelihood ratio, Carlini et al. 2022, with few references: one
                      deviation for all)

Assumption. Members and outsiders differ in nothing but membership. All examples are judged by one model, so the counts
depend on each other: their limits have no false-alarm rate and refute nothing. `training.one_run` supports such a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.auc import membership_evidence
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed, scored_by
from textveil.attacks.training.seen import ModelSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import open_fraction

Floats = NDArray[np.floating[Any]]


class LossAttack(Estimator):
    """Call those candidates members on which the model has the smallest loss.

    Parameters
    ----------
    share
        Share of the outsiders that the adversary is ready to call members.
    unit
        What one candidate is: "example" or "user".
    """

    name = "training.membership"
    sees = ModelSeen
    needs: tuple[str, ...] = ()

    def __init__(self, share: float = 0.1, unit: str = "example"):
        self.share, self.unit = share, unit

    def run(self, exposure: ModelSeen, *, rng: Any) -> Evidence:
        open_fraction("share", self.share)
        check_exposure(self, exposure)
        member = scored_by(self, exposure.truth)
        if len(exposure.own_examples) < 2:
            raise BadInput(f"the attack {self.name} needs two examples of its own or more")
        scores, own = (self.scores(exposure, part) for part in (exposure.examples, exposure.own_examples))
        return membership_evidence(
            self.name,
            Unit(self.unit),
            scores,
            member,
            called=scores > np.quantile(own, 1 - self.share),
            notes=(
                "value: area under the curve, interval from DeLong's variance; hits: members called members",
                f"threshold from {len(own)} outsiders of the adversary's own; assumes that chance decided who was trained on",
            ),
        )

    def scores(self, exposure: ModelSeen, examples: Any) -> Floats:
        return -np.asarray(exposure.losses(list(examples)), dtype=np.float64)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.training.examples import members_told

        return AttackExample(cls(), members_told)


class LiraAttack(LossAttack):
    """Compare each loss with those of models that were trained like the target on other data (`references`)."""

    name = "training.lira"
    needs: tuple[str, ...] = ("references",)

    def scores(self, exposure: ModelSeen, examples: Any) -> Floats:
        references = needed(self, "references", exposure.references)
        outside = np.array([reference(list(examples)) for reference in references], dtype=np.float64)
        spread = max(float(outside.std(axis=0).mean()), 1e-6)
        return (outside.mean(axis=0) - np.asarray(exposure.losses(list(examples)), dtype=np.float64)) / spread
