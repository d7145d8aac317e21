"""The sound variant: an extractor in the same kind of table, trained under (epsilon, delta) for a paragraph or a document.

Claim. The table is (epsilon, delta)-differentially private for the unit, under adding or removing one unit. Everything in
it is computed from Gaussian releases whose multiplier is calibrated by the accounting room (sound_descent, sound_output).
The labels' names, the plans and the number of slots are public.

Descent is the default: its clipping looks at what a unit really pulls, output perturbation at what it might. At equal
promises descent found more (docs/hashed-sound.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from textveil.accounting import guarantee_of
from textveil.accounting.calibration import gaussian_multiplier
from textveil.core import Adjacency, Approx, Estimator, Event, GaussianNoise, Guarantee, Shape
from textveil.core.draft import as_draft
from textveil.core.example import Example, Worlds
from textveil.core.params import open_fraction, positive
from textveil.hashed.extractor import OUTSIDE, Extractor, marked_example
from textveil.hashed.kinds import TableKind
from textveil.hashed.marked_data import Marked, check_marked
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.sound_descent import descend
from textveil.hashed.sound_examples import ExampleReader, Examples
from textveil.hashed.sound_output import perturbed
from textveil.hashed.sound_plan import UNITS, SoundPlan
from textveil.hashed.table import SOUND, WeightTable
from textveil.noise.source import Source

BITS = 18
PLAN, SOUND_PLAN = FeaturePlan(bits=BITS), SoundPlan()
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


class SoundTrainer(Estimator):
    """A mechanism: (documents, spans) in, an extractor under a guarantee out.

    The event is made of the parameters alone: neither the documents nor the seed change it. A seed only chooses the source
    of the noise, and what was drawn with one is a draft.

    Parameters
    ----------
    epsilon
        Loss of one unit (`sound.unit`) by the whole training.
    delta
        Chance that the bound fails; well below 1 / units.
    label
        Name of spans that are given without one.
    plan
        Which features fall into how many slots (`FeaturePlan`).
    sound
        How to train and how to decide (`SoundPlan`), its unit and method among it.
    seed
        None draws from the secure source. A number makes a draft, which protects nobody.

    Examples
    --------
    >>> trainer = SoundTrainer(epsilon=2.0, delta=1e-6)
    >>> event = trainer.event(Shape())
    >>> event.times, round(event.noise.multiplier, 2), trainer.guarantee_.loss.epsilon <= 2.0
    (15, 8.64, True)
    """

    name = "hashed.sound"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        label: str = "CLAUSE",
        plan: FeaturePlan = PLAN,
        sound: SoundPlan = SOUND_PLAN,
        seed: int | None = None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.label = label
        self.plan = plan
        self.sound = sound
        self.seed = seed

    def public_params(self) -> dict[str, Any]:
        """Parameters as they may be published: all but the seed, which would undo the noise."""
        return {**super().public_params(), "plan": self.plan.to_json(), "sound": self.sound.to_json()}

    @property
    def times(self) -> int:
        return self.sound.steps if self.sound.method == "descent" else 1

    @property
    def multiplier(self) -> float:
        """Of one release: T draws of m sqrt(T) are one of m."""
        return _multiplier(positive("epsilon", self.epsilon), open_fraction("delta", self.delta), self.sound)

    def event(self, shape: Shape) -> Event:
        """What training costs a unit, from public constants."""
        return _event(self.multiplier, self.sound)

    @property
    def guarantee_(self) -> Guarantee:
        """What a release promises; with a seed, nothing."""
        return self._promise(is_seeded=self.seed is not None)

    def _promise(self, *, is_seeded: bool) -> Guarantee:
        event = self.event(Shape())
        return guarantee_of(as_draft(event) if is_seeded else event, delta=self.delta)

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on: a corpus with and without one paragraph, by the slots it touches."""
        texts, spans = marked_example()
        trainer = cls(epsilon=2.0, delta=1e-3, label="LAW", plan=FeaturePlan(bits=6), sound=SoundPlan(steps=2))
        worlds = Worlds((texts, spans), (texts[:-1], spans[:-1]), see=lambda model: model.table_.weights[:, 1])
        return Example(trainer, (texts, spans), worlds=(worlds,), see=lambda model: model.table_.weights, tries=400)

    def reader(self) -> ExampleReader:
        return ExampleReader(self.plan, self.sound.rows, self.sound.unit)

    def passes(self) -> tuple[str, ...]:
        """What leaves without protection, by name."""
        return (f"the name of the label: {self.label}",)

    def check_data(self, data: Marked, shape: Shape) -> None:
        """Refuse what is no pair of documents and spans; what stands in the documents is never a reason."""
        check_marked(data)

    def apply(self, data: Marked, *, noise: Source) -> Extractor:
        """A fitted extractor, from (documents, spans)."""
        check_marked(data)
        reader = self.reader()
        for text, spans in zip(*data, strict=True):
            reader.add(text, [(span[0], span[1]) for span in spans])
        return self.train(reader.examples(), noise=noise)

    def train(self, examples: Examples, *, noise: Source, advance: Callable[[float], None] | None = None) -> Extractor:
        """A fitted extractor, from examples that have been hashed already."""
        weights = self.weights(examples, noise=noise, advance=advance)
        return self.extractor(weights, self._promise(is_seeded=noise.seeded))

    def weights(
        self, examples: Examples, *, noise: Source | None, advance: Callable[[float], None] | None = None
    ) -> np.ndarray:
        """The weight of each slot; `noise=None` trains without noise and without a promise, for studies."""
        if self.sound.method == "descent":
            return descend(examples, self.sound, self.multiplier, noise, advance=advance)
        return perturbed(examples, self.sound, self.multiplier, noise)

    def extractor(self, weights: np.ndarray, promise: Guarantee) -> Extractor:
        """Weights in a table: all in the label's column, every slot counts as set. Its facts are public constants."""
        rows = len(weights)
        table = WeightTable(
            np.stack([np.zeros(rows), weights], axis=1),
            np.ones((rows, 2), bool),
            (OUTSIDE, self.label),
            np.zeros((2, 2)),
            kind=TableKind.SOUND,
            facts={
                SOUND: self.sound.to_json(),
                "asked": {"epsilon": float(self.epsilon), "delta": float(self.delta)},
                "guarantee": promise.to_json(),
            },
        )
        return Extractor(label=self.label, plan=self.plan).with_table(table)


@lru_cache(maxsize=64)
def _multiplier(epsilon: float, delta: float, sound: SoundPlan) -> float:
    """The smallest multiplier found for this promise. Priced again, since a rounding may cost privacy."""
    times = _event(1.0, sound).times
    multiplier = gaussian_multiplier(epsilon, delta) * math.sqrt(times)
    asked = Approx(epsilon, delta)
    while not asked.covers(guarantee_of(_event(multiplier, sound), delta=delta).loss):
        multiplier *= 1 + 1e-9
    return multiplier


def _event(multiplier: float, sound: SoundPlan) -> Event:
    return Event(
        GaussianNoise(multiplier),
        UNITS[sound.unit],
        Adjacency.ADD_REMOVE,
        times=sound.steps if sound.method == "descent" else 1,
        assumes=tuple(sentence.format(unit=sound.unit) for sentence in ASSUMES),
        source=SOURCES[sound.method],
        mechanism=SoundTrainer.name,
    )
