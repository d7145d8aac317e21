"""What a private training run will do, said beforehand in public facts, and the event that is priced.

Claim. A run that follows its plan costs at most `plan.epsilon(delta)` per unit (one example, or everything of one
user).
Derivation. Each update releases sum over the sample of clipped gradients (norm at most C) + Gaussian noise of deviation
noise * sqrt(shards) * C, divided by the public batch; the rest (Adam, averaging, rates) only works on what was
released.
- poisson: every unit takes part with chance batch / examples, independently. Neighbours add or remove a unit
  (sensitivity C). Priced as PoissonSampled under ADD_REMOVE: pld and rdp apply. The number of units never enters:
  `examples` is a public figure.
- fixed: `batch` of `examples` units without replacement. Neighbours replace a unit (sensitivity 2C). Priced as
  FixedSampled under REPLACE: rdp applies (Wang, Balle, Kasiviswanathan 2019); pld has no price. The data must then hold
  `examples` units.
- shuffle, balls-and-bins: refused. Each pass deals every unit into exactly one batch, so batches are not independent; a
  Poisson price may be below the truth (Chua et al. 2024, "How private are DP-SGD implementations?") and no accountant
  here covers them.
Shards: P workers that each add noise of sigma add, together, one noise of sigma * sqrt(P).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from textveil.accounting.accountants import Best, Priced, accountant
from textveil.core import Adjacency, BadInput, BadParameter, Event, UnknownName
from textveil.core.events import FixedSampled, GaussianNoise, Noise, PoissonSampled, RepeatedNoise, Together
from textveil.core.params import positive, positive_integer
from textveil.core.units import Unit

SAMPLINGS = ("poisson", "fixed")
UNPRICED = {
    "shuffle": "its batches depend on each other, and a Poisson price may be below the truth (Chua et al. 2024)",
    "balls-and-bins": "no accountant here covers it (dp-accounting 0.6 has none)",
}
SOURCE = "Abadi et al. 2016 (DP-SGD), Mironov et al. 2019 and Koskela et al. 2020 (accounting)"
FLOATS = "sums and noise are rounded to single precision; the grid of floating-point numbers is not part of the proof"


@dataclass(frozen=True)
class Phase:
    """`steps` updates with one noise multiplier and one expected batch."""

    noise: float
    batch: int
    steps: int


@dataclass(frozen=True)
class TrainingPlan:
    """Public facts of one training run.

    >>> plan = TrainingPlan(noise=1.0, batch=32, examples=14041, steps=steps_for(14041, 32, epochs=10))
    >>> plan.steps, round(plan.epsilon(1e-5), 3), round(plan.epsilon(1e-5, "rdp"), 2)
    (4388, 0.762, 1.05)
    """

    noise: float
    batch: int
    examples: int
    steps: int
    clip: float = 1.0
    sampling: str = "poisson"
    unit: Unit = Unit.EXAMPLE
    shards: int = 1
    schedule: tuple[Phase, ...] = ()  # when the noise or the batch changes on the way; see `TrainingPlan.scheduled`

    def __post_init__(self) -> None:
        positive("clip", self.clip)
        positive_integer("examples", self.examples)
        positive_integer("shards", self.shards)
        object.__setattr__(self, "unit", Unit(self.unit))
        if self.unit not in (Unit.EXAMPLE, Unit.DOCUMENT, Unit.USER):
            raise BadParameter("unit", str(self.unit), "example, document or user")
        check_sampling(self.sampling)
        for phase in self.phases:
            positive("noise", phase.noise)
            positive_integer("steps", phase.steps)
            if positive_integer("batch", phase.batch) > self.examples:
                raise BadParameter("batch", phase.batch, f"at most the {self.examples} examples")
        if self.schedule and (self.noise, self.batch, self.steps) != _summary(self.schedule):
            raise BadInput("a plan with a schedule is made by TrainingPlan.scheduled(phases, examples=...)")

    @classmethod
    def scheduled(cls, phases: Sequence[Phase], *, examples: int, **more: Any) -> TrainingPlan:
        """A plan whose noise or batch changes.

        >>> plan = TrainingPlan.scheduled([Phase(2.0, 256, 100), Phase(1.0, 512, 50)], examples=10_000)
        >>> plan.steps, plan.phase(99).noise, plan.phase(100).noise
        (150, 2.0, 1.0)
        """
        if not phases:
            raise BadInput("a schedule needs at least one phase")
        noise, batch, steps = _summary(tuple(phases))
        return cls(noise=noise, batch=batch, steps=steps, examples=examples, schedule=tuple(phases), **more)

    @property
    def phases(self) -> tuple[Phase, ...]:
        return self.schedule or (Phase(self.noise, self.batch, self.steps),)

    @property
    def adjacency(self) -> Adjacency:
        return Adjacency.ADD_REMOVE if self.sampling == "poisson" else Adjacency.REPLACE

    def phase(self, step: int) -> Phase:
        """The phase that the step (from 0) belongs to."""
        return self.phases[self.phase_number(step)]

    def phase_number(self, step: int) -> int:
        """Which of the phases that is."""
        for number, phase in enumerate(self.phases):
            if step < phase.steps:
                return number
            step -= phase.steps
        raise BadInput(f"the plan has {self.steps} steps")

    def multiplier(self, phase: Phase) -> float:
        """The noise that one update carries, relative to the clip: that of all shards together."""
        return phase.noise * math.sqrt(self.shards)

    def sampled(self, phase: Phase) -> Noise:
        """One update of a phase, as the accountant sees it."""
        noise = GaussianNoise(self.multiplier(phase))
        if self.sampling == "poisson":
            return PoissonSampled(phase.batch / self.examples, noise)
        return FixedSampled(self.examples, phase.batch, noise)

    def event(self, *, begun: Sequence[int] | None = None) -> Event:
        """The whole run; or, with `begun`, that many steps of each phase (a stopped run, or steps that were done again)."""
        counts = [p.steps for p in self.phases] if begun is None else list(begun)
        parts = tuple(RepeatedNoise(self.sampled(p), n) for p, n in zip(self.phases, counts, strict=True) if n)
        if not parts:
            raise BadInput("no step was begun, so there is nothing to price")
        noise, times = (parts[0].noise, parts[0].times) if len(parts) == 1 else (Together(parts), 1)
        return Event(noise, self.unit, self.adjacency, times, self._assumes(), SOURCE, "training.dp_sgd")

    def epsilon(self, delta: float, accountant: str = "best") -> float:
        """What the run costs at this delta."""
        return self.price(delta, accountant).epsilon

    def price(self, delta: float, accountant: str = "best", *, also: Sequence[Event] = ()) -> Priced:
        """The cost, who found it, and what to know about it; `also`: other events on the same data, composed with it."""
        return price_together([*also, self.event()], delta, accountant)

    def with_noise(self, noise: float) -> TrainingPlan:
        """The same plan at another multiplier (the first phase's; the others keep their ratio to it)."""
        if not self.schedule:
            return replace(self, noise=noise)
        ratio = noise / self.schedule[0].noise
        phases = [replace(p, noise=p.noise * ratio) for p in self.schedule]
        phases[0] = replace(phases[0], noise=noise)
        return replace(self, noise=noise, schedule=tuple(phases))

    def to_json(self) -> dict[str, Any]:
        phases = [[p.noise, p.batch, p.steps] for p in self.phases]
        return {
            "phases": phases,
            "examples": self.examples,
            "clip": self.clip,
            "sampling": self.sampling,
            "unit": str(self.unit),
            "shards": self.shards,
        }

    def _assumes(self) -> tuple[str, ...]:
        size = "the number of units is public" if self.sampling == "fixed" else "the declared number of units is public"
        return (
            f"every update samples afresh ({self.sampling}) and only the final model, or any of its updates, is shown",
            f"each unit's gradient is clipped to norm {self.clip:g}; {size}",
            "choices made by looking at results on the same private data are charged by themselves",
            FLOATS,
        )


def check_sampling(name: str) -> str:
    """The name, or the reason why such batches have no price."""
    if name in UNPRICED:
        raise BadInput(f"sampling '{name}' has no price: {UNPRICED[name]}", possible=", ".join(SAMPLINGS))
    if name not in SAMPLINGS:
        raise UnknownName("sampling", name, (*SAMPLINGS, *UNPRICED))
    return name


def steps_for(examples: int, batch: int, epochs: float) -> int:
    """Updates that draw each example `epochs` times on average, rounded up.

    >>> steps_for(14041, 32, 10)
    4388
    """
    exact = positive("epochs", epochs) * positive_integer("examples", examples) / positive_integer("batch", batch)
    return max(1, math.ceil(round(exact, 9)))


def price_together(events: Sequence[Event], delta: float, name: str = "best") -> Priced:
    """The joint cost of events on the same data, by one accountant."""
    tool = accountant(name)
    for event in events:
        tool.compose(event)
    if isinstance(tool, Best):
        return tool.read(delta)
    notes = tool.notes(delta) if hasattr(tool, "notes") else ()
    return Priced(tool.epsilon(delta), tool.name, notes)


def _summary(phases: tuple[Phase, ...]) -> tuple[float, int, int]:
    return phases[0].noise, phases[0].batch, sum(p.steps for p in phases)


def calibrated(epsilon: float, delta: float, **plan: Any) -> TrainingPlan:
    """The plan with the least noise that keeps (epsilon, delta): see `textveil.training.calibrate`."""
    from .calibrate import calibrated as calibrate  # late: it builds on this file

    return calibrate(epsilon, delta, **plan)
