"""`textveil report`: one page about a folder of releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import AsJson
from textveil.cli.output import print_result


def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that holds release folders.")],
    as_json: AsJson = False,
) -> None:
    """Write report.html and report.json about all releases in a folder.

    Example: textveil report demo
    """
    from textveil.report import write_report

    result = write_report(folder)
    lines = [f"{row['name']}: {row['badge']} ({row['mechanism']})" for row in result["releases"]]
    print_result(result, [*lines, f"read {folder}/report.html"], as_json=as_json)
