"""How results are printed: one JSON object with `--json`, else lines for people.

promise: what is promised                    NOTICE: what nobody may miss, on the error stream
passes:  what left unprotected, one a line   beware:  what is allowed and unwise
next:    a command that goes on from here, as it can be pasted

Inside `collected` nothing is printed: the result is kept for whoever called the verb from Python (calls.py).
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from textveil.core.utility import Utility
from textveil.text.formats.piped import is_piped

NOT_RECORDED = "not recorded (no --ledger)"


@dataclass
class Printed:
    """What a verb would have printed: its result, the release folder it made, and its notices."""

    progress: bool = False
    result: Any = None
    folder: Path | None = None
    notices: list[str] = field(default_factory=list)


_collecting: ContextVar[Printed | None] = ContextVar("collecting", default=None)


@contextmanager
def collected(*, progress: bool) -> Iterator[Printed]:
    """Keep what is printed inside. `progress`: bars are shown all the same."""
    printed = Printed(progress)
    token = _collecting.set(printed)
    try:
        yield printed
    finally:
        _collecting.reset(token)


def shows_progress(*, quiet: bool, is_watched: bool) -> bool:
    """Whether bars are drawn: where somebody watches the error stream, or asked for them from Python."""
    printed = _collecting.get()
    return (is_watched and not quiet) if printed is None else printed.progress


def say(line: str) -> None:
    """A line on the error stream about what happens now."""
    printed = _collecting.get()
    if printed is None or printed.progress:
        typer.echo(line, err=True)


def beware(sentence: str, **style: Any) -> None:
    """What is allowed and unwise, on the error stream; a warning for whoever called the verb from Python."""
    printed = _collecting.get()
    if printed is not None:
        printed.notices.append(sentence)
        return
    typer.secho(f"beware:  {sentence}", err=True, **style)


def print_json(result: Any) -> None:
    """One machine-readable result."""
    printed = _collecting.get()
    if printed is not None:
        printed.result = result
        return
    typer.echo(json.dumps(result, ensure_ascii=not _prints_all_letters(), allow_nan=False))


def _prints_all_letters() -> bool:
    """Whether standard output takes UTF-8; else JSON is printed with escapes."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"


def print_result(result: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """The result of a verb that releases nothing."""
    if as_json:
        print_json(result)
        return
    for line in lines:
        typer.echo(line)


def print_release(
    result: dict[str, Any], out: Path, lines: Sequence[str], *, as_json: bool, more: Sequence[str] = (), next: str = "",
    said: Sequence[str] = (),
) -> None:  # fmt: skip
    """The result of a verb that made a release folder: what it is, what is promised, what passes, what it cost.

    Notices are printed on the error stream with --json too: whoever pipes the result still reads them. Warnings that were
    `said` before are not repeated.
    """
    print_notices(result, said)
    printed = _collecting.get()
    if printed is not None:
        printed.folder = out
    if as_json:
        print_json(result)
        return
    for line in [*lines, f"promise: {result['promise']}", *more, *passes_lines(result.get("passes", ()))]:
        typer.echo(line)
    typer.echo(f"ledger:  {result['entry'] or NOT_RECORDED}")
    typer.echo(f"read {out}/card.html")
    if next:
        typer.echo(f"next:    {next}")


def command_line(*arguments: object) -> str:
    """A command that can be pasted into a shell; arguments that are None are left out with the option before them.

    >>> command_line("audit", "my out", "--truth", "in.csv", "--spans", None)
    "textveil audit 'my out' --truth in.csv"
    """
    kept: list[str] = []
    for argument in arguments:
        if argument is None:
            kept.pop()
        else:
            kept.append("FILE" if isinstance(argument, Path) and is_piped(argument) else shlex.quote(str(argument)))
    return " ".join(["textveil", *kept])


def print_notices(result: dict[str, Any], said: Sequence[str] = ()) -> None:
    """Lines that one cannot miss: a ledger that was made, a limit that nobody set."""
    printed = _collecting.get()
    if printed is not None:
        printed.notices += [*result.get("notices", ()), *result.get("warnings", ())]
        return
    for notice in result.get("notices", ()):
        typer.secho(f"NOTICE: {notice}", err=True, bold=True, fg=typer.colors.YELLOW)
    for sentence in result.get("warnings", ()):
        if sentence not in said:
            print_warning(sentence)


def print_warning(sentence: str) -> None:
    """Something that is allowed and unwise, said as soon as it is known; in Python it is among the notices at the end."""
    if _collecting.get() is not None:
        return
    typer.secho(f"beware:  {sentence}", err=True, fg=typer.colors.YELLOW)


class Warner(list[str]):
    """Prints warnings at once, and remembers them."""

    def __call__(self, sentence: str) -> None:
        self.append(sentence)
        print_warning(sentence)


def print_coverage(coverage: Any) -> None:
    """What the vectors cover of a text, on the error stream: it is about private text, and for whoever runs the command."""
    say(coverage.sentence)
    if coverage.warning is not None:
        beware(coverage.warning, bold=True, fg=typer.colors.YELLOW)


def passes_lines(passes: Sequence[str]) -> list[str]:
    """Everything that left unprotected, by name.

    >>> passes_lines(["the column 'name'", "letter case"])
    ["passes:  the column 'name' (unprotected)", '         letter case (unprotected)']
    """
    return [f"{'passes:' if i == 0 else '':<9}{name} (unprotected)" for i, name in enumerate(passes)]


def percent(share: float) -> str:
    """
    >>> percent(0.3127)
    '31.3 %'
    """
    return f"{100 * share:.1f} %"


def tries_of(shown: dict[str, Any]) -> str:
    """What a figure rests on. An area under a curve is no share of its tries.

    >>> tries_of({"value": 0.5, "hits": 0, "tries": 300, "effective": 151.2}), tries_of({"value": 0, "hits": 0, "tries": 9})
    ('as sure as 151 tries', '0 of 9')
    """
    if not shown["tries"]:
        return "exact"
    if not str(shown.get("metric")).startswith("auc") and (shown["hits"] or not shown["value"]):
        return f"{shown['hits']:,} of {shown['tries']:,}"
    return f"as sure as {round(shown.get('effective') or shown['tries']):,} tries"


def evidence_line(shown: dict[str, Any]) -> str:
    """One attack in one line: what was reached, how sure that is, what a blind guess would reach, and what any guess could.

    >>> evidence_line({"attack": "counts.passage", "metric": "success", "value": 0.6, "interval": [0.5, 0.7], "hits": 60,
    ...                "tries": 100, "chance": 0.5, "upper": 0.731})
    'counts.passage: success 60.0 % [50.0 %, 70.0 %] (60 of 100), by chance 50.0 %, upper 73.1 %'
    """
    low, high = shown["interval"]
    tries = tries_of(shown)
    upper = "" if shown.get("upper") is None else f", upper {percent(shown['upper'])}"
    return (
        f"{shown['attack']}: {shown['metric']} {percent(shown['value'])} "
        f"[{percent(low)}, {percent(high)}] ({tries}), by chance {percent(shown['chance'])}{upper}"
    )


def use_line(use: Utility) -> str:
    """One task in one line: with the release, with the original, by chance, and what is kept.

    >>> use_line(Utility("classify by kind", "accuracy", 0.71, 0.77, 0.28, (0.69, 0.73), how="TF-IDF"))
    'classify by kind (TF-IDF): accuracy 71.0 % [69.0 %, 73.0 %], original 77.0 %, by chance 28.0 %: keeps 87.8 %'
    """
    is_share = all(v is None or 0 <= v <= 1 for v in (use.value, use.original, use.chance))

    def figure(value: float) -> str:
        return percent(value) if is_share else f"{value:.4g}"

    line = f"{use.task} ({use.how}): {use.metric} {figure(use.value)}"
    if use.interval is not None:
        line += f" [{figure(use.interval[0])}, {figure(use.interval[1])}]"
    beside = [("original", use.original), ("by chance", use.chance)]
    line += "".join(f", {name} {figure(value)}" for name, value in beside if value is not None)
    kept = use.kept()
    return line if kept is None else f"{line}: keeps {percent(max(0.0, kept))}"
