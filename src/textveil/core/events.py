"""What happened to the private data, in words that an accountant can price.

An event is a frozen value made of public facts: which noise, on which unit, under which adjacency, how many times. Its
price stands elsewhere (accounting.prices), in a table keyed by the kind of noise. The law of change: a name never changes
its meaning; an unknown kind is unsupported, never guessed.

Multipliers of Gaussian and Laplace noise are relative to the *bound on one unit's contribution* (the clip norm C), not to
the sensitivity. The sensitivity follows from the adjacency: C when a unit is added, removed or zeroed out, 2C when it is
replaced. The price table applies that factor, in one place.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from .errors import BadParameter, UnknownName
from .losses import Loss, loss_from_json
from .params import fraction, non_negative, open_fraction, positive, positive_integer
from .units import Adjacency, Unit


@dataclass(frozen=True)
class Noise:
    """Base of all kinds of noise an event may hold."""

    kind: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"kind": self.kind}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, (Noise, Loss)):
                value = value.to_json()
            elif isinstance(value, tuple):
                value = [v.to_json() for v in value]
            shown[f.name] = value
        return shown


@dataclass(frozen=True)
class MetricNoise(Noise):
    """Noise whose odds between two inputs change by at most exp(epsilon * distance)."""

    epsilon: float
    metric: str
    metric_id: str = ""
    diameter: float | None = None
    kind: ClassVar[str] = "metric"

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)


@dataclass(frozen=True)
class CountNoise(Noise):
    """Two-sided geometric noise with parameter exp(-epsilon / precision) on every count of a document."""

    epsilon: float
    precision: int
    delta: float = 0.0
    kind: ClassVar[str] = "counts"

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive_integer("precision", self.precision)
        fraction("delta", self.delta)


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Gaussian noise of standard deviation multiplier * C, C the bound on one unit's L2 contribution."""

    multiplier: float
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        positive("multiplier", self.multiplier)


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Laplace (or two-sided geometric) noise of scale multiplier * C, C the bound on one unit's L1 contribution."""

    multiplier: float
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        positive("multiplier", self.multiplier)


@dataclass(frozen=True)
class Stated(Noise):
    """A bare (epsilon, delta) promise, whatever gave it."""

    epsilon: float
    delta: float = 0.0
    kind: ClassVar[str] = "stated"

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        fraction("delta", self.delta)


@dataclass(frozen=True)
class PoissonSampled(Noise):
    """Each unit takes part with the same probability, independently; then `noise` is applied."""

    probability: float
    noise: Noise
    kind: ClassVar[str] = "poisson_sampled"

    def __post_init__(self) -> None:
        if self.probability != 1:
            open_fraction("probability", self.probability)


@dataclass(frozen=True)
class FixedSampled(Noise):
    """`batch` of `population` units take part, drawn without replacement; then `noise` is applied."""

    population: int
    batch: int
    noise: Noise
    kind: ClassVar[str] = "fixed_sampled"

    def __post_init__(self) -> None:
        positive_integer("population", self.population)
        if positive_integer("batch", self.batch) > self.population:
            raise BadParameter("batch", self.batch, f"at most the population ({self.population})")


@dataclass(frozen=True)
class Together(Noise):
    """Several draws on the same data, released together, each `times` times."""

    parts: tuple[RepeatedNoise, ...]
    kind: ClassVar[str] = "together"


@dataclass(frozen=True)
class RepeatedNoise(Noise):
    """One kind of noise within `Together`, and how often."""

    noise: Noise
    times: int = 1
    kind: ClassVar[str] = "part"

    def __post_init__(self) -> None:
        positive_integer("times", self.times)


@dataclass(frozen=True)
class Unpriced(Noise):
    """No theorem prices this: the ledger lists it beside the totals and never adds it."""

    loss: Loss
    kind: ClassVar[str] = "unpriced"


NOISES: dict[str, type[Noise]] = {
    c.kind: c
    for c in (
        MetricNoise,
        CountNoise,
        GaussianNoise,
        LaplaceNoise,
        Stated,
        PoissonSampled,
        FixedSampled,
        Together,
        RepeatedNoise,
        Unpriced,
    )
}


@dataclass(frozen=True)
class Event:
    """`times` draws of one kind of noise on one unit under one adjacency.

    >>> event = Event(MetricNoise(0.5, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC, mechanism="words.brr")
    >>> event_from_json(event.to_json()) == event
    True
    """

    noise: Noise
    unit: Unit
    adjacency: Adjacency
    times: int = 1
    assumes: tuple[str, ...] = ()
    source: str = ""
    mechanism: str = ""

    def __post_init__(self) -> None:
        positive_integer("times", self.times)
        if (self.adjacency is Adjacency.METRIC) != isinstance(self.noise, (MetricNoise, CountNoise)) and not isinstance(
            self.noise, Unpriced
        ):
            raise BadParameter(
                "adjacency", str(self.adjacency), f"one that noise of kind '{self.noise.kind}' is priced for"
            )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "noise": self.noise.to_json(), "assumes": list(self.assumes)}


def event_from_json(shown: dict[str, Any]) -> Event:
    """The inverse of `Event.to_json`."""
    values = dict(shown)
    values["noise"] = _noise_from_json(values["noise"])
    values["unit"], values["adjacency"] = Unit(values["unit"]), Adjacency(values["adjacency"])
    values["assumes"] = tuple(values.get("assumes", ()))
    return Event(**values)


def _noise_from_json(shown: dict[str, Any]) -> Noise:
    values = dict(shown)
    kind = values.pop("kind", "")
    if kind not in NOISES:
        raise UnknownName("kind of noise", str(kind), NOISES)
    if "noise" in values:
        values["noise"] = _noise_from_json(values["noise"])
    if "parts" in values:
        values["parts"] = tuple(_noise_from_json(p) for p in values["parts"])
    if "loss" in values:
        values["loss"] = loss_from_json(values["loss"])
    return NOISES[kind](**values)
