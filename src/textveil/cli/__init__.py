"""The command line: `textveil VERB`. One file per verb; this file joins them and turns errors into sentences.

Exit codes: 0 done, 1 refused (budget, privacy), 2 bad input or usage. An unexpected error prints its kind and place but
never its values, since those may be private; TEXTVEIL_DEBUG=1 shows the whole trace.
"""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
from typing import Annotated

import typer

from textveil import __version__
from textveil.cli import (
    audit,
    classify,
    counts,
    demo,
    federate,
    fragments,
    frontier,
    hashed,
    ledger,
    measure,
    pii,
    report,
    reproduce,
    train,
    vectors,
    veil,
    words,
)
from textveil.cli.read_as import say_read_as
from textveil.cli.verbs import Verbs
from textveil.core.errors import TextveilError

STOPPED = 130  # by Ctrl-C; typer returns it as the result

app = Verbs(
    "Make sensitive text useful, with the promise as a value.\n\nTry: textveil demo",
    name="textveil",
    add_completion=True,
    pretty_exceptions_enable=False,  # its traces show local values, which may be private
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("veil")(veil.veil)
app.command("counts")(counts.counts)
app.command("audit")(audit.audit)
app.command("measure")(measure.measure)
app.command("frontier")(frontier.frontier)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(words.app, name="words")
app.add_typer(hashed.app, name="hashed")
app.add_typer(vectors.app, name="vectors")
app.add_typer(ledger.app, name="ledger")
app.add_typer(train.app, name="train")
app.add_typer(federate.app, name="federate")
app.add_typer(pii.app, name="pii")
app.add_typer(fragments.app, name="fragments")
app.add_typer(classify.app, name="classify")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"textveil {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that a terminal cannot show is no reason to stop
            stream.reconfigure(errors="replace")
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        say_read_as()
        left = app(args=arguments, prog_name="textveil", standalone_mode=False)
    except TextveilError as error:
        return _say(str(error), error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        left = STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _unexpected(error)
    if left == STOPPED:
        return _say("stopped; the same command goes on where it can, and what is stored is not charged again", STOPPED)
    return left if isinstance(left, int) else 0


def _unexpected(error: Exception) -> int:
    import click

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        typer.echo(error.ctx.get_help() if error.ctx else error.format_message())
        return 2
    if isinstance(error, click.ClickException):
        return _say(_once(error.format_message()), 2)
    if os.environ.get("TEXTVEIL_DEBUG"):
        traceback.print_exc()
    where = traceback.extract_tb(error.__traceback__)[-1]
    return _say(
        f"unexpected {type(error).__name__} in {os.path.basename(where.filename)}, line {where.lineno}; "
        "TEXTVEIL_DEBUG=1 shows more",
        3,
    )


def _once(message: str) -> str:
    """The message in one line; a suggestion that click and typer both make stands in it once."""
    suggestion = re.compile(r"(Did you mean [^?]*\?)(?:\s+Did you mean [^?]*\?)+")
    return suggestion.sub(r"\1", " ".join(message.split()))


def _say(sentence: str, exit_code: int) -> int:
    typer.echo(f"textveil: {sentence}", err=True)
    return exit_code
