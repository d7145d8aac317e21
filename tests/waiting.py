"""Waiting for a condition: a test says what has to happen, not how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable

GENEROUS = 240.0  # seconds; only a test that fails waits that long


def wait_until(condition: Callable[[], object], deadline: float = GENEROUS, *, pause: float = 0.01) -> bool:
    """Ask until the condition holds or `deadline` seconds are over; whether it holds is the answer."""
    end = time.monotonic() + deadline
    while not condition():
        if time.monotonic() > end:
            return bool(condition())
        time.sleep(pause)
    return True
