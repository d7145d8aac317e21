"""The use to expect of a veiled file, said before anything is charged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from textveil.cli.output import beware, percent, say, use_line
from textveil.cli.progress import bar

if TYPE_CHECKING:
    from textveil.recipes.use.forecast import Forecast
    from textveil.recipes.words.engines import Engine
    from textveil.recipes.words.veil import VeilJob

FEWEST = 100  # documents below which nothing is foreseen
POOR = (
    "next to nothing is expected to be left for a classifier at this setting; a larger --attack-success, --stay or --epsilon "
    "leaves more, and textveil frontier shows how much"
)


@dataclass
class UseToExpect:
    """What `veil` says of use: from the table that ships and, where a label is named, from a trial on the file."""

    job: VeilJob
    label_field: str | None = None
    quiet: bool = False
    shown: dict[str, Any] = field(default_factory=dict)  # for --json

    def foresee(self, records: int, engine: Engine) -> None:
        """Say what to expect of so many records."""
        from textveil.recipes.use.channel import has_vectors
        from textveil.recipes.use.forecast import forecast

        if not has_vectors(self.job.mechanism):
            return
        if records < FEWEST:
            if self.label_field is not None:
                say(f"use to expect: nothing can be foreseen below {FEWEST} records")
            return
        found = engine.ask(partial(forecast, documents=records))
        self.shown = found.to_json()
        self._say(*forecast_lines(found))
        if self.label_field is not None:
            self._foresee_on_text(self.label_field)
        if found.is_poor:
            beware(POOR)

    def _foresee_on_text(self, label_field: str) -> None:
        """On the file itself: a trial on its clear text and its labels; the figure is for its owner alone."""
        from textveil.recipes.use.trial import DRAWS, forecast_on_text
        from textveil.text.readers import open_reader

        job = self.job
        options = job.reading()
        reader = open_reader(
            job.source, fields=(label_field,), columns=(), max_line_bytes=job.max_line_bytes, **options
        )
        records = [(record.text, record.fields[label_field]) for record in reader]
        with bar("trying", DRAWS, unit="draws", quiet=self.quiet) as advance:
            use = forecast_on_text(
                job.mechanism,
                [text for text, _ in records],
                [label for _, label in records],
                label_field,
                cut=None if job.mask is None else job.mask.cut,
                advance=advance,
            )
        self.shown["on_this_file"] = use.to_json()
        self._say(f"  on this file (for you alone): {use_line(use)}")

    def _say(self, *lines: str) -> None:
        if not self.quiet:
            for line in lines:
                typer.echo(line)


def forecast_lines(found: Forecast) -> list[str]:
    """The forecast in words."""
    worth, low, high = (_rounded(value) for value in (found.worth, *found.worth_range))
    least, most = (percent(share) for share in found.kept_range)
    return [
        f"use to expect: a classifier learns from these {found.documents:,} documents, veiled, about as much as from {worth} "
        f"clear ones ({low} to {high})",
        f"  at that, public collections keep {least} to {most} of their gain over chance (median {percent(found.kept)})",
    ]


def _rounded(documents: float) -> str:
    """Two digits: more would claim too much.

    >>> _rounded(1234.0), _rounded(7.2)
    ('1,200', '7')
    """
    return f"{float(f'{documents:.2g}'):,.0f}"
