"""How to train, for all private models: the settings, and their names as constructors take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from textveil.core import Event


@dataclass(frozen=True)
class Settings:
    """How to train, for all private models; each kind of model has its own defaults."""

    epsilon: float | None = None  # None: plain training without any promise
    delta: float = 1e-5
    unit: str = "example"  # or "user"
    epochs: float = 30
    batch: int = 2048  # expected size of a Poisson batch; at most the number of units
    clip: float = 0.2
    rate: float = 0.003
    optimiser: str = "adamw"
    rate_schedule: str = "constant"
    average: float | None = 0.9  # exponential average of the iterates; None: the last one
    sampling: str = "poisson"
    examples: int | None = None  # declared public number of units
    micro_batch: int = 256
    also: tuple[Event, ...] = ()  # other events under the same promise (a DP vocabulary)
    seed: int | None = None  # makes a draft
    allow_large_delta: bool = False  # a delta of 1 / units or more


class SettingNames(TypedDict, total=False):
    """The same names for type checkers and editors; a test holds the two together."""

    epsilon: float | None
    delta: float
    unit: str
    epochs: float
    batch: int
    clip: float
    rate: float
    optimiser: str
    rate_schedule: str
    average: float | None
    sampling: str
    examples: int | None
    micro_batch: int
    also: tuple[Event, ...]
    seed: int | None
    allow_large_delta: bool
