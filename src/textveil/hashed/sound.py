"""The sound variant: an extractor in the same kind of table, trained under (epsilon, delta) for a paragraph or a document.

Claim. The table is (epsilon, delta)-differentially private for the unit, under adding or removing one unit. Everything in
it is computed from Gaussian releases whose multiplier is calibrated by the accounting room (sound_descent, sound_output).
The labels' names, the plans and the number of slots are public.

Descent is the default: its clipping looks at what a unit really pulls, output perturbation at what it might. At equal
promises descent found more (docs/hashed-sound.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from textveil.accounting import guarantee_of
from textveil.accounting.calibration import gaussian_multiplier
from textveil.core import Adjacency, Event, GaussianNoise, Shape
from textveil.core.params import open_fraction, positive
from textveil.hashed.extractor import OUTSIDE, Extractor
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.sound_decode import SOUND
from textveil.hashed.sound_descent import descend
from textveil.hashed.sound_examples import ExampleReader, Examples
from textveil.hashed.sound_output import perturbed
from textveil.hashed.sound_plan import UNITS, SoundPlan
from textveil.hashed.table import WeightTable
from textveil.noise.source import Source

BITS = 18
SOURCES = {
    "descent": "noisy descent on clipped units, Gaussian composition (Dong, Roth, Su 2022); textveil.hashed.sound_descent",
    "output": "output perturbation (Chaudhuri, Monteleoni, Sarwate 2011), Gaussian; textveil.hashed.sound_output",
}
ASSUMES = (
    "the unit is what the public splitter cuts: two data sets differ in one {unit}, with all its marks",
    "a clause repeated in several {unit}s is protected once for each, not as a whole",
    "feature plan, constants and the name of the label are public, not chosen by looking at the documents",
    "Gaussian noise in double precision; the grid of floating-point numbers is not part of the proof",
)


class SoundTrainer:
    """A mechanism: (documents, spans) in, an extractor under a guarantee out.

    >>> trainer = SoundTrainer(epsilon=2.0, delta=1e-6)
    >>> event = trainer.event(Shape())
    >>> event.times, round(event.noise.multiplier, 2), guarantee_of(event, delta=1e-6).loss.epsilon <= 2.0
    (15, 8.64, True)
    """

    name = "hashed.sound"

    def __init__(
        self,
        epsilon: float,
        delta: float,
        label: str = "CLAUSE",
        plan: FeaturePlan | None = None,
        sound: SoundPlan | None = None,
    ):
        self.epsilon = positive("epsilon", epsilon)
        self.delta = open_fraction("delta", delta)
        self.label = label
        self.plan = FeaturePlan(bits=BITS) if plan is None else plan
        self.sound = SoundPlan() if sound is None else sound

    @property
    def times(self) -> int:
        return self.sound.steps if self.sound.method == "descent" else 1

    @cached_property
    def multiplier(self) -> float:
        """Of one release: T draws of m sqrt(T) are one of m. Priced again, since a rounding may cost privacy."""
        found = gaussian_multiplier(self.epsilon, self.delta) * math.sqrt(self.times)
        while guarantee_of(self._event(found), delta=self.delta).loss.epsilon > self.epsilon:
            found *= 1 + 1e-9
        return found

    def event(self, shape: Shape) -> Event:
        return self._event(self.multiplier)

    def _event(self, multiplier: float) -> Event:
        return Event(
            GaussianNoise(multiplier),
            UNITS[self.sound.unit],
            Adjacency.ADD_REMOVE,
            times=self.times,
            assumes=tuple(sentence.format(unit=self.sound.unit) for sentence in ASSUMES),
            source=SOURCES[self.sound.method],
            mechanism=self.name,
        )

    def reader(self) -> ExampleReader:
        return ExampleReader(self.plan, self.sound.rows, self.sound.unit)

    def apply(self, data: tuple[Sequence[str], Sequence[Sequence[tuple[int, int]]]], *, noise: Source) -> Extractor:
        """A fitted extractor, from (documents, spans)."""
        reader = self.reader()
        for text, spans in zip(*data, strict=True):
            reader.add(text, spans)
        return self.train(reader.examples(), noise=noise)

    def train(self, examples: Examples, *, noise: Source, advance: Callable[[float], None] | None = None) -> Extractor:
        """A fitted extractor, from examples that have been hashed already."""
        return self.extractor(self.weights(examples, noise=noise, advance=advance))

    def weights(
        self, examples: Examples, *, noise: Source | None, advance: Callable[[float], None] | None = None
    ) -> np.ndarray:
        """The weight of each slot; `noise=None` trains without noise and without a promise, for studies."""
        if self.sound.method == "descent":
            return descend(examples, self.sound, self.multiplier, noise, advance=advance)
        return perturbed(examples, self.sound, self.multiplier, noise)

    def extractor(self, weights: np.ndarray) -> Extractor:
        """Weights in a table: all in the label's column, every slot counts as set."""
        rows = len(weights)
        table = WeightTable(
            np.stack([np.zeros(rows), weights], axis=1),
            np.ones((rows, 2), bool),
            (OUTSIDE, self.label),
            np.zeros((2, 2)),
            sealed=True,
            facts=self.facts(),
        )
        return Extractor(label=self.label, plan=self.plan).with_table(table)

    def facts(self) -> dict[str, Any]:
        """Public facts that the table's header keeps."""
        promise = guarantee_of(self._event(self.multiplier), delta=self.delta)
        return {SOUND: self.sound.to_json(), "guarantee": promise.to_json()}
