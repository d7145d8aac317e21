"""`textveil audit`: attack a release folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textveil.cli.options import INPUT, AsJson, Reading, option, plain
from textveil.cli.output import evidence_line, print_result, say

if TYPE_CHECKING:
    from textveil.recipes.audit import AuditResult

PUBLISHING = "Publishing evidence about private text"


def audit(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A release folder.")],
    attack: Annotated[
        list[str] | None, option("An attack to run; repeat for several. Without: all that can be run.", metavar="NAME")
    ] = None,
    vectors: Annotated[str | None, option("The vectors of the release, if their file has moved.")] = None,
    truth: Annotated[
        Path | None,
        option(
            "The original file (or canaries.json), to score guesses. Such evidence stays out of FOLDER.", group=INPUT
        ),
    ] = None,
    spans: Annotated[
        Path | None, option("Hashed models: the marked spans, if they are not in the original.", group=INPUT)
    ] = None,
    public: Annotated[
        Path | None, option("Public text of the same kind, or texts that were not trained on.", group=INPUT)
    ] = None,
    records: Annotated[
        Path | None, option("Masked text: records of the people, jsonl with id and fields.", group=INPUT)
    ] = None,
    other: Annotated[
        Path | None, option("Masked text: the folder of another masked release about the same people.", group=INPUT)
    ] = None,
    recogniser: Annotated[
        str | None,
        option(
            "Masked text: a second recogniser to read it with (names, presidio, or the folder of a model). "
            "Without: names.",
            metavar="MODEL",
            group=INPUT,
        ),
    ] = None,
    publish: Annotated[
        bool,
        option("With --truth: put the evidence on the card, for everybody to read.", "--publish", group=PUBLISHING),
    ] = False,
    ledger: Annotated[
        Path | None,
        option("With --publish: the ledger of the release, which gets a line for it.", group=PUBLISHING),
    ] = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Attack a release with nothing but its folder, and put the evidence on its card.

    With --truth guesses are scored on the original. Such evidence tells counts of the private text, so it is kept in
    FOLDER.private/evidence.json and the folder is not changed, unless --publish is said.

    Example: textveil audit out --truth reviews.jsonl
    """
    from textveil.recipes.audit import AuditJob, audit_release

    job = AuditJob(
        folder, tuple(attack or ()), truth, public, spans, vectors, records, other, recogniser, publish, ledger,
        **plain(reading),
    )  # fmt: skip
    result = audit_release(job, progress=lambda name: say(f"running {name} ..."))
    shown = {"evidence": result.rows, "not_run": result.not_run, "written": str(result.written)}
    print_result(shown, _lines(result, is_private=truth is not None and not publish), as_json=as_json)


def _lines(result: AuditResult, *, is_private: bool) -> Iterator[str]:
    for row in result.rows:
        yield evidence_line(row)
        for line in (row["verdict"], *row.get("notes", ())):
            yield f"  {line}"
    for name, why in result.not_run.items():
        yield f"not run: {name} ({why})"
    where = "for you alone; the folder is as it was" if is_private else "the card has it"
    yield f"{where}: {result.written}"
