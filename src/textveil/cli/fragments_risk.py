"""`textveil fragments risk`: how much of the text can be put together again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.fragments_make import PairReading
from textveil.cli.options import INPUT, AsJson, option
from textveil.cli.output import percent, print_result, say

PUBLISHING = "Publishing evidence about private text"


def risk(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A release that fragments make made.")],
    truth: Annotated[Path, option("The parallel text that it was made from, to score guesses.", group=INPUT)],
    truth_target: Annotated[Path | None, option("Of two files: the target.", group=INPUT)] = None,
    public: Annotated[
        Path | None,
        option(
            "Public parallel text of the same kind: the attacker learns which words follow each other.", group=INPUT
        ),
    ] = None,
    publish: Annotated[
        bool, option("Put the evidence on the card, for everybody to read.", "--publish", group=PUBLISHING)
    ] = False,
    ledger: Annotated[
        Path | None, option("With --publish: the ledger of the release, which gets a line for it.", group=PUBLISHING)
    ] = None,
    *,
    reading: PairReading,
    as_json: AsJson = False,
) -> None:
    """Measure how much of the text can be put together again from its fragments alone.

    The attacks see the folder (and public text, if it is given); the original only scores them. What is found is kept in
    FOLDER.private/evidence.json, for you alone, unless --publish is said. How the original is read stands in the release.

    Example: textveil fragments risk pieces --truth memory.tmx
    """
    from textveil.recipes.fragments.risk import RiskJob, measure_risk

    job = RiskJob(
        folder, reading.file(truth, truth_target), None if public is None else reading.file(public), publish, ledger
    )
    result = measure_risk(job, progress=lambda name: say(f"running {name} ..."))
    print_result(result, _lines(result, is_private=not publish), as_json=as_json)


def _lines(result: dict[str, Any], *, is_private: bool) -> Iterator[str]:
    low, high = result["interval"]
    yield (
        f"risk: {percent(result['risk'])} [{percent(low)}, {percent(high)}] of the words can be put back into correct runs "
        "of ten words or more"
    )
    yield f"{'':48}{'rebuilt':>8}{'95 % interval':>20}{'by chance':>11}   counted"
    for row in result["rows"]:
        low, high = row["interval"]
        name = row["metric"] + (", simplest attack" if row["attack"] == "fragments.greedy" else "")
        between = f"{percent(low)} to {percent(high)}"
        counted = f"{row['hits']:,} of {row['tries']:,}"
        yield f"{name:<48}{percent(row['value']):>8}{between:>20}{percent(row['chance']):>11}   {counted}"
        yield from (f"  {note}" for note in row.get("notes", ()))
    for name, why in result["not_run"].items():
        yield f"not run: {name} ({why})"
    where = "for you alone; the folder is as it was" if is_private else "the card has it"
    yield f"{where}: {result['written']}"
