"""words.stays: guess that every word is what it was."""

import numpy as np

from textveil.attacks import Evidence, WordsSeen, check_exposure
from textveil.attacks.exposure import needed
from textveil.attacks.words.examples import words_told
from textveil.core import Estimator
from textveil.core.example import AttackExample


class StaysAttack(Estimator):
    """Guess that each released word is the true one."""

    name = "words.stays"
    sees = WordsSeen
    needs = ("observed",)

    def run(self, exposure, *, rng):
        check_exposure(self, exposure)
        truth = needed(self, "the truth to score it", exposure.truth).ids
        hits, tries = int((exposure.observed == truth).sum()), len(truth)
        best = float(np.bincount(truth + 1).max() / tries)  # no constant guess does better
        return Evidence(self.name, "success", hits / tries, 1 / len(exposure.prior), hits, tries, best_prior=best)

    @classmethod
    def example(cls):
        return AttackExample(cls(), words_told)
