"""`textveil measure`: what a release is still good for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textveil.cli.options import INPUT, AsJson, Reading, option, plain
from textveil.cli.output import print_result, say, use_line

if TYPE_CHECKING:
    from textveil.recipes.measure import MeasureResult

PUBLISHING = "Publishing figures about private text"


def measure(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A release folder.")],
    truth: Annotated[Path, option("The original file. Figures stay out of FOLDER.", group=INPUT)],
    label_field: Annotated[
        str | None, option("The field of the original that holds a label, to learn a classifier of it.", group=INPUT)
    ] = None,
    test: Annotated[
        Path | None,
        option("A clear labelled file to test on. Without: folds of the original's own records.", group=INPUT),
    ] = None,
    task: Annotated[
        list[str] | None,
        option(
            "A task to do; repeat for several: classify, retrieve, topics, stay (of models: score). Without: all that can "
            "be done.",
            metavar="NAME",
        ),
    ] = None,
    vectors: Annotated[str | None, option("The vectors of the release, if their file has moved.")] = None,
    publish: Annotated[
        bool, option("Put the figures on the card, for everybody to read.", "--publish", group=PUBLISHING)
    ] = False,
    ledger: Annotated[
        Path | None,
        option("With --publish: the ledger of the release, which gets a line for it.", group=PUBLISHING),
    ] = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Do tasks with a release and with its original, and say how much of their use the release keeps.

    The figures are about private text, so they are kept in FOLDER.private/utility.json and the folder is not changed, unless
    --publish is said.

    Example: textveil measure out --truth reviews.jsonl --label-field label
    """
    from textveil.recipes.measure import MeasureJob, measure_release

    job = MeasureJob(
        folder, truth, tuple(task or ()), label_field, test, vectors, publish=publish, ledger=ledger, **plain(reading)
    )
    result = measure_release(job, progress=lambda name: say(f"doing {name} ..."))
    shown = {"utility": result.rows, "not_run": result.not_run, "written": str(result.written)}
    print_result(shown, _lines(result, is_private=not publish), as_json=as_json)


def _lines(result: MeasureResult, *, is_private: bool) -> Iterator[str]:
    for use in result.uses:
        yield use_line(use)
        for note in use.notes:
            yield f"  {note}"
    for name, why in result.not_run.items():
        yield f"not done: {name} ({why})"
    where = "for you alone; the folder is as it was" if is_private else "the card has it"
    yield f"{where}: {result.written}"
