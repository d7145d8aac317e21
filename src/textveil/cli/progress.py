"""Progress bars on the error stream: how far, how fast, how long. Silent when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from textveil.cli.output import shows_progress

Advance = Callable[[float], None]
Bar = Callable[[str, float | None, str], AbstractContextManager[Advance]]


def nothing(step: float) -> None:
    """Advance no bar."""


def bars(*, quiet: bool) -> Bar:
    """What journeys open their bars with: `with bar(title, total, unit) as advance`."""

    def open_bar(title: str, total: float | None, unit: str) -> AbstractContextManager[Advance]:
        return bar(title, total, unit=unit, quiet=quiet)

    return open_bar


def rate_text(speed: float, unit: str) -> str:
    """How fast, by the second, or by the minute where that would be a fraction.

    >>> rate_text(1200.0, "words"), rate_text(0.4, "rounds")
    ('1,200 words/s', '24.0 rounds/min')
    """
    return f"{speed:,.0f} {unit}/s" if speed >= 2 else f"{60 * speed:,.1f} {unit}/min"


@contextmanager
def bar(title: str, total: float | None, *, unit: str = "", quiet: bool = False) -> Iterator[Advance]:
    """A bar with a rate; yields the function that moves it on."""
    if not shows_progress(quiet=quiet, is_watched=sys.stderr.isatty()):
        yield nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task(title, total=total, rate="")

        def advance(step: float) -> None:
            progress.advance(task, step)
            speed = progress.tasks[0].speed
            progress.update(task, rate=rate_text(speed, unit) if speed else "")

        yield advance
