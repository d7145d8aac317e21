"""What a study of the sound variant needs: its labels on other documents, and two worlds that differ in one paragraph.

Both draw from a seeded source: a study is repeated, never released.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.hashed.sound import BITS, SoundTrainer
from textveil.hashed.sound_decode import decode_sentences
from textveil.hashed.sound_examples import Examples
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_pull import clipped, slopes_of
from textveil.noise import seeded
from textveil.noise.source import Source

Spans = Sequence[Sequence[tuple[int, int]]]
WORLD_BITS = 14
REPEATS = 16  # trainings of each world from which the adversary learns what to expect
_UNITS = {"example": "paragraph"}  # the house's word for the unit, and the command line's


def sound_labels(
    texts: Sequence[str],
    spans: Spans,
    asked: Sequence[str],
    *,
    epsilon: float,
    delta: float,
    unit: str = "paragraph",
    method: str = "descent",
    seed: int = 0,
    bits: int = BITS,
) -> list[np.ndarray]:
    """The label of each token of the asked documents (1 where it is found), under a model of the others."""
    plan = SoundPlan.of(method, _UNITS.get(unit, unit))
    trainer = SoundTrainer(epsilon, delta, plan=FeaturePlan(bits=bits), sound=plan)
    table = trainer.apply((texts, spans), noise=seeded(seed)).table_
    return [decode_sentences(tokenize(text), trainer.plan, table).labels for text in asked]


class Worlds:
    """Fresh tables of a corpus with (1) and without (0) one unit.

    `expected` is what the adversary computes: the mean table of either world, over trainings with the same noise in both, so
    that the difference of the two shows what the unit does and hardly any noise.
    """

    def __init__(self, examples: Examples, trainer: SoundTrainer, unit: int, seed: int = 0):
        self._trainer, self.unit = trainer, unit
        self._worlds = (examples.without(unit), examples)
        sums = np.zeros((2, examples.rows.shape[1]))
        for repeat in range(REPEATS):
            for world in (0, 1):
                sums[world] += self.release(world, seeded(seed * REPEATS + repeat))
        self.expected = sums / REPEATS

    def release(self, world: int, source: Source) -> np.ndarray:
        """One training of one world: the weights of all slots."""
        return self._trainer.weights(self._worlds[world], noise=source)

    def sample(self, worlds: np.ndarray, source: Source) -> np.ndarray:
        return np.stack([self.release(int(world), source) for world in worlds])


def two_worlds(
    texts: Sequence[str],
    spans: Spans,
    *,
    epsilon: float,
    delta: float,
    unit: str = "paragraph",
    method: str = "descent",
    seed: int = 0,
    bits: int = WORLD_BITS,
) -> Worlds:
    """Worlds that differ in the unit that pulls hardest and is least like the others: the easiest to tell."""
    plan = SoundPlan.of(method, _UNITS.get(unit, unit))
    trainer = SoundTrainer(epsilon, delta, plan=FeaturePlan(bits=bits), sound=plan)
    reader = trainer.reader()
    for text, marked in zip(texts, spans, strict=True):
        reader.add(text, marked)
    examples = reader.examples()
    return Worlds(examples, trainer, loneliest_unit(examples, plan), seed)


def loneliest_unit(examples: Examples, plan: SoundPlan) -> int:
    """Among the units that pull with (nearly) full strength at the start, the one least like the sum of all clauses."""
    slopes = clipped(slopes_of(examples, np.zeros(examples.rows.shape[1]), plan), examples)
    pulls = _per_unit(slopes, examples)
    strength = np.sqrt(np.asarray(pulls.multiply(pulls).sum(axis=1)).ravel())
    strong = np.flatnonzero(strength > 0.9 * strength.max())
    if not len(strong):
        raise BadInput("there is no unit to leave out")
    alike = pulls[strong] @ np.asarray(pulls.sum(axis=0)).ravel()
    return int(strong[np.argmin(alike)])


def _per_unit(slopes: np.ndarray, examples: Examples) -> Any:
    from scipy import sparse

    places = (examples.units, np.arange(len(slopes)))
    return sparse.csr_matrix((slopes, places), shape=(examples.count, len(slopes))) @ examples.rows
