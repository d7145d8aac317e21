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

    name: str

    def event(self, shape: Shape) -> Event: ...

    def apply(self, data: Any, *, noise: Any) -> Any: ...
