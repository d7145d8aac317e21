"""Small examples on which everything registered is checked, and two worlds to compare.

A mechanism's class has a classmethod `example` that returns an `Example`, an attack's one that returns an `AttackExample`.
`textveil.testing.check_registered` runs the laws on it; a name without one fails. Examples are small: a few seconds at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .shape import Shape


@dataclass(frozen=True)
class Worlds:
    """Two neighbouring inputs, `distance` apart in the promise's metric (None where neighbours are just neighbours).

    `see` turns one output into what is compared: a number, an array of numbers, or anything with a `repr`. With `by_row`
    the inputs are single rows, each row of a table is a unit of its own, and many tries are made in one call.
    """

    first: Any
    second: Any
    distance: float | None = None
    see: Callable[[Any], Any] | None = None
    by_row: bool = False


@dataclass(frozen=True)
class Example:
    """A mechanism with small settings, data of the kind it takes, and what `check_mechanism` should know besides.

    `worlds` are the neighbouring inputs that its promise is hardest to keep for. `see` turns an output into numbers of which
    two draws cannot agree by chance, where outputs are objects (a model). `exempt` names laws that cannot be asked of it,
    each with the reason; the result shows them.
    """

    mechanism: Any
    sample: Any
    shape: Shape = field(default_factory=Shape)
    worlds: tuple[Worlds, ...] = ()
    see: Callable[[Any], Any] | None = None
    tries: int = 20_000
    repeatable: bool = True
    exempt: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AttackExample:
    """An attack with small settings, and what it is shown: `exposure("nothing")` or `exposure("all")` is told."""

    attack: Any
    exposure: Callable[[str], Any]
