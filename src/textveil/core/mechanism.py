"""The smallest central type: something that touches private data once and says beforehand what that will cost."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from .events import Event
from .shape import Shape


@runtime_checkable
class Mechanism(Protocol):
    """`event` uses public facts only; `apply` returns new values and edits nothing in place.

    `noise` is a source of randomness of the noise room: secure by default, seeded for a draft. A mechanism draws all its
    randomness from it (or from OpenDP, which has its own secure generator).
    """

    @property
    def name(self) -> str: ...

    def event(self, shape: Shape) -> Event: ...

    def apply(self, data: Any, *, noise: Any) -> Any: ...


def passes_of(mechanism: Any) -> tuple[str, ...]:
    """What leaves unprotected with a release, by name, as far as its mechanism says so (`passes()` is optional)."""
    ask = getattr(mechanism, "passes", None)
    return tuple(ask()) if callable(ask) else ()


@runtime_checkable
class ChecksData(Protocol):
    """A mechanism that can refuse data (BadInput) before anything is charged or drawn.

    `check_data` answers two questions: could `apply` take this data, and does the declared shape describe it? An event is
    priced from the shape alone, so a shape that does not fit would print and charge another loss than the one spent. A
    refusal must hang on what no neighbour can change (sizes, types, values outside the domain), since it is seen.
    """

    def check_data(self, data: Any, shape: Shape) -> None: ...


def check_data(mechanism: Mechanism, data: Any, shape: Shape) -> None:
    """Let a mechanism refuse its data, where it can; whoever charges calls this first."""
    if isinstance(mechanism, ChecksData):
        mechanism.check_data(data, shape)
