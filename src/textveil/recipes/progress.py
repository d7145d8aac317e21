"""How a journey tells how far it is: the command line gives a bar, a script may give nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

# (title, total or None, unit) -> a context whose value is called with each step's size
Bar = Callable[[str, float | None, str], AbstractContextManager[Callable[[float], None]]]


def no_bar(title: str, total: float | None, unit: str) -> AbstractContextManager[Callable[[float], None]]:
    """A bar that shows nothing."""
    return nullcontext(lambda step: None)
