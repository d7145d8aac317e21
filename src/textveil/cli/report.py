"""`textveil report`: one page about a folder of releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.output import print_json


def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that holds release folders.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Write report.html and report.json about all releases in a folder.

    Example: textveil report demo
    """
    from textveil.report import write_report

    result = write_report(folder)
    if as_json:
        print_json(result)
        return
    for row in result["releases"]:
        typer.echo(f"{row['name']}: {row['label']}, {row['mechanism']}")
    typer.echo(f"read {folder}/report.html")
