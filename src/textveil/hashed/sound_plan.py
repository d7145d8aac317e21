"""Public constants of the sound variant: chosen once, on public contracts, and the same for every user.

A plan holds nothing that was learnt from private text, so an event may be computed from it. The defaults were chosen on
validation contracts (docs/hashed-sound.md); a user who tunes them on private documents has to charge each try.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from textveil.core.errors import BadParameter
from textveil.core.params import choice, non_negative, positive, positive_integer
from textveil.core.units import Unit
from textveil.hashed.sound_features import RowPlan

METHODS = ("descent", "output")
LEAST_TOLERANCE = 1e-6
UNITS = {"paragraph": Unit.PARAGRAPH, "document": Unit.DOCUMENT}


@dataclass(frozen=True)
class SoundPlan:
    """How to train and how to decide.

    >>> SoundPlan.from_json(SoundPlan(steps=3).to_json()) == SoundPlan(steps=3)
    True
    """

    unit: str = "paragraph"
    method: str = "descent"
    rows: RowPlan = field(default_factory=RowPlan)
    offset: float = 8.0  # an unknown sentence is a clause with log-odds -offset: clauses are rare, and that is public
    boost: float = 8.0  # of a missed clause against a false find, up to the bound
    steps: int = 15  # descent: sums that are released
    rate: float = 0.04  # descent: weight per unit of the summed pull
    ridge: float = 2.5  # output: strength of the square penalty, on sums over units (not means)
    tolerance: float = 0.01  # output: the length of the gradient at which the minimiser counts as found
    shrink: float = 1.0  # weights move towards 0 by this many standard deviations of their noise
    alone: float = 1.5  # the best sentence of a document is taken from log-odds -alone
    among: float = 0.5  # and any other from log-odds -among

    def __post_init__(self) -> None:
        choice("unit", self.unit, tuple(UNITS))
        choice("method", self.method, METHODS)
        positive_integer("steps", self.steps)
        for name in ("boost", "rate", "ridge", "tolerance"):
            positive(name, getattr(self, name))
        if self.tolerance < LEAST_TOLERANCE:
            raise BadParameter(
                "tolerance", self.tolerance, f"{LEAST_TOLERANCE:g} or more: doubles must be able to reach it"
            )
        for name in ("offset", "shrink"):
            non_negative(name, getattr(self, name))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "rows": self.rows.to_json()}

    @classmethod
    def of(cls, method: str = "descent", unit: str = "paragraph") -> SoundPlan:
        """The shipped constants of a method: one release needs less shrinking than the sum of many."""
        choice("method", method, METHODS)
        return cls(unit=unit, method=method, shrink=1.0 if method == "descent" else 0.1)

    @classmethod
    def from_json(cls, shown: Mapping[str, Any]) -> SoundPlan:
        return cls(**{**shown, "rows": RowPlan.from_json(shown["rows"])})
