"""Waiting for somebody who may be slow, and not for somebody who is gone.

Deadlines count from the last sign of life, so that a loaded machine or a large batch is given its time and a party that
stands still is not:

    the own engine    its process has used CPU time since the last sign
    a peer            says {"alive": true} while its engine computes (`Wire.beat`); whoever waits passes that on

A watched connection that ends, or that brings a refusal, ends the wait at once. A message that comes early (the peer's engine
was done first) is kept for its time. No wait is longer than `PATIENCE` deadlines, whatever signs there are.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .wire import PATIENCE, BrokenWire, Wire

LOOK_SECONDS = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int) -> float:
    """CPU time that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


class Pulse:
    """Says whether a process works: it has used CPU time since the last time that it was said to.

    An engine that only waits uses a few thousandths of the time, so one hundredth of the deadline is work.
    """

    def __init__(self, process: int, seconds: float):
        self._process, self._least, self._used = process, min(0.5, seconds / 100), cpu_seconds(process)

    def __call__(self) -> bool:
        if (used := cpu_seconds(self._process)) - self._used < self._least:
            return False
        self._used = used
        return True


def no_pulse() -> bool:
    """For those who wait for a peer alone."""
    return False


def await_readable(
    target: Wire,
    *,
    seconds: float,
    watch: Sequence[Wire] = (),
    tell: Sequence[Wire] = (),
    pulse: Callable[[], bool] = no_pulse,
) -> None:
    """Return when something arrives at `target`; BrokenWire, or a peer's refusal, when it will not."""
    if target.has_early:
        return
    began = last = time.monotonic()
    while (now := time.monotonic()) < min(last + seconds, began + PATIENCE * seconds):
        ready = _readable([target, *watch], min(LOOK_SECONDS, last + seconds - now))
        if target in ready:
            return
        alive = [wire for wire in ready if wire.hear(seconds=seconds)]
        if (is_own := pulse()) or alive:
            last = time.monotonic()
            for wire in tell:
                if is_own or wire not in alive:  # a sign never goes back: two who wait would keep each other alive
                    wire.beat()
    raise BrokenWire(f"{target.peer} did not answer in time")


def _readable(wires: Sequence[Wire], seconds: float) -> list[Wire]:
    try:
        ready, _, _ = select.select([wire.socket for wire in wires], [], [], max(0.0, seconds))
    except (OSError, ValueError):
        raise BrokenWire("the connection ended meanwhile") from None
    return [wire for wire in wires if wire.socket in ready]


__all__ = ["Pulse", "await_readable", "cpu_seconds"]
