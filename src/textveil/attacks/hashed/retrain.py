"""Retrain and compare (section 6.4.2): the adversary trains the same model on the text that it supposes, and compares
tables.

On a released table. Genuine rows are copied exactly and training is deterministic, so the adversary's own training gives to
the slots of the right term the very numbers of the release, and to those of a wrong one numbers that no fill repeats. With
shuffled training the numbers differ but stay near. `TableSeen.retrain(text, label)` gives, for a candidate, its slots and
the rows that the adversary's own training put there. Score: minus the mean log distance, in units of the table's spread
(equal rows score highest).

On two worlds (a sound release). `TwoWorlds.channel` gives fresh releases of either world, `channel.expected` what the
adversary's own training gives in each. Score: the inner product of the release with the difference of the two, which is the
likelihood ratio of Gaussian noise, so no test does better (Neyman and Pearson). With Gaussian noise of multiplier s the
area under the curve is at most Phi(1 / (s sqrt 2)): what a promise (epsilon, delta) allows when its noise is no larger than
it must be."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.auc import area_under_curve
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import TwoWorlds, check_exposure, needed, scored_by
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import Floats, term_evidence
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

_EQUAL, _FAR = 1e-7, 1e3  # of the spread: single precision; no weight is so far off
_AT_ONCE = 200


class WeightWorlds(Protocol):
    """Releases of two neighbouring corpora, in the slots where they may differ."""

    expected: Floats  # (2, slots): what training gives without noise in world 0 and in world 1

    def sample(self, worlds: NDArray[np.integer[Any]], source: Any) -> Floats: ...


class RetrainAttack(Estimator):
    """Train the same model on supposed text and compare it with the release.

    Parameters
    ----------
    tries
        Releases of each of the two worlds, where there are worlds.
    unit
        What sets the worlds apart.
    """

    name = "hashed.retrain"
    sees = (TableSeen, TwoWorlds)
    needs: tuple[str, ...] = ("retrain",)

    def __init__(self, tries: int = 2_000, unit: str = "example"):
        self.tries, self.unit = tries, unit

    def run(self, exposure: TableSeen | TwoWorlds, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        if isinstance(exposure, TwoWorlds):
            return self._two_worlds(exposure.channel, rng)
        retrain, member = needed(self, "retrain", exposure.retrain), scored_by(self, exposure.truth)
        candidates = exposure.terms
        weights = np.asarray(exposure.table.weights)
        spread = float(np.std(weights[: 1 << 16], dtype=np.float64)) or 1.0
        scores, equal = np.zeros(len(candidates)), np.zeros(len(candidates))
        for number, candidate in enumerate(candidates):
            slots, rows = retrain(*candidate)
            distance = np.abs(weights[slots].astype(np.float64) - rows) / spread
            if exposure.table.present is not None:  # an empty slot is one that training never touched
                distance[~exposure.table.present[slots].any(axis=1)] = _FAR
            scores[number] = -np.log(distance + _EQUAL).mean()
            equal[number] = (distance < _EQUAL).all(axis=1).mean()
        shares = f"{equal[member].mean():.3f} of trained terms', {equal[~member].mean():.3f} of others'"
        note = f"rows equal to retrained ones: {shares}"
        return term_evidence(self.name, scores, member, ("own training on the text supposed, same code", note))

    def _two_worlds(self, channel: WeightWorlds, rng: Any) -> Evidence:
        tries = positive_integer("tries", self.tries)
        expected = np.asarray(channel.expected, dtype=np.float64)
        if expected.ndim != 2 or len(expected) != 2:
            raise BadInput("the retrain attack compares two worlds")
        direction, middle = expected[1] - expected[0], expected.mean(axis=0) @ (expected[1] - expected[0])
        scores = []
        for world in (1, 0):
            parts = [
                np.asarray(channel.sample(np.full(min(_AT_ONCE, tries - start), world), rng), np.float64) @ direction
                for start in range(0, tries, _AT_ONCE)
            ]
            scores.append(np.concatenate(parts) - middle)
        area = area_under_curve(scores[0], scores[1])
        called = [int((s > 0).sum()) for s in scores]
        return Evidence(
            self.name,
            "auc (two worlds)",
            area.value,
            0.5,
            called[0],
            tries,
            unit=Unit(self.unit),
            false_hits=called[1],
            false_tries=tries,
            effective=area.worth,
            notes=(
                f"{tries} fresh releases of each world; the adversary knows both trainings and the noise",
                "value: area under the curve of the likelihood ratio",
            ),
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.hashed.examples import retrained_told

        return AttackExample(cls(), retrained_told)
