"""`textveil report`: one page about a folder of releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    lines += [_spent_line(line) for line in result["ledgers"]] + result["in_no_ledger"]
    print_result(result, [*lines, f"read {folder}/report.html"], as_json=as_json)


def _spent_line(line: dict[str, Any]) -> str:
    """What one ledger has come to."""
    from textveil.core.losses import upward

    if line.get("epsilon") is None:
        return f"ledger '{line['ledger']}': {line['unpriced']} without a price, in no sum"
    slack = f" at delta {upward(line['delta'], 2)}" if line.get("delta") else ""
    charges = "one charge" if line["charges"] == 1 else f"{line['charges']} charges"
    return f"ledger '{line['ledger']}': epsilon {upward(line['epsilon'])}{slack} {line['what']}, in {charges}"
