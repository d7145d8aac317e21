"""Membership inference from losses: what was trained on is fitted better than what was not.

training.membership   the loss itself (Yeom et al. 2018): "member" if it is below what a tenth of the adversary's own
                      outsiders have
training.lira         how far the loss falls short of what reference models, which never saw the example, give it, in
                      their deviations (offline likelihood ratio, Carlini et al. 2022, with few references: one
                      deviation for all)

Assumption. Members and outsiders differ in nothing but membership. The counts are read as if examples were judged
independently, although they share one model; `training.one_run` needs no such reading.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import BadInput, Estimator, Unit
from ..core.params import open_fraction
from .auc import membership_evidence
from .evidence import Evidence
from .exposure import Exposure

Floats = NDArray[np.floating[Any]]


class LossAttack(Estimator):
    """`share`: how many outsiders of its own the adversary is ready to call members."""

    name = "training.membership"
    needs: tuple[str, ...] = ("losses", "examples", "own_examples")

    def __init__(self, share: float = 0.1, unit: str = "example"):
        self.share, self.unit = share, unit

    def run(self, exposure: Exposure, *, rng: Any) -> Evidence:
        open_fraction("share", self.share)
        exposure.require(self.name, self.needs)
        assert exposure.examples is not None and exposure.own_examples is not None
        if exposure.truth is None or not 2 <= int(exposure.truth.sum()) <= len(exposure.truth) - 2:
            raise BadInput(f"the attack {self.name} needs the truth, with two members and two outsiders or more")
        if len(exposure.own_examples) < 2:
            raise BadInput(f"the attack {self.name} needs two examples of its own or more")
        member = np.asarray(exposure.truth) == 1
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

    def scores(self, exposure: Exposure, examples: Any) -> Floats:
        assert exposure.losses is not None
        return -np.asarray(exposure.losses(list(examples)), dtype=np.float64)


class LiraAttack(LossAttack):
    """`exposure.references`: the losses of models trained like the target on other data."""

    name = "training.lira"
    needs = ("losses", "examples", "own_examples", "references")

    def scores(self, exposure: Exposure, examples: Any) -> Floats:
        assert exposure.losses is not None and exposure.references is not None
        outside = np.array([reference(list(examples)) for reference in exposure.references], dtype=np.float64)
        spread = max(float(outside.std(axis=0).mean()), 1e-6)
        return (outside.mean(axis=0) - np.asarray(exposure.losses(list(examples)), dtype=np.float64)) / spread
