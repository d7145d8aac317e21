"""`textveil reproduce`: a paper's tables and figures, run again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.output import print_json
from textveil.cli.progress import bar

RESULTS = Path("docs/results")
CACHE = Path(".textveil-studies")


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="The paper's number (03, 06 ...), or all.")],
    scale: Annotated[str, typer.Option(help="small (minutes) or full (the paper's own sizes).")] = "small",
    data: Annotated[Path | None, typer.Option(help="The evaluation data; else TEXTVEIL_DATA.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Cells that run at the same time.")] = 1,
    part: Annotated[str | None, typer.Option(help="Only this part of the study.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the result; else docs/results/NN.")] = None,
    cache: Annotated[Path, typer.Option(help="Where finished cells are kept.")] = CACHE,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Run a paper's tables and figures again and judge each of its claims.

    Example: textveil reproduce 06 --scale small --jobs 2
    """
    from textveil.reproduce import PAPERS

    papers = sorted(PAPERS) if paper == "all" else [paper]
    found = {}
    for name in papers:
        folder = None if out is None else out / name if paper == "all" else out
        found[name] = _one(name, scale, _data(data), jobs, part, folder, cache, as_json)
    if as_json:
        print_json(found if paper == "all" else found[paper])
    _complain(found)


def _one(
    paper: str, scale: str, data: Path | None, jobs: int, part: str | None, out: Path | None, cache: Path, quiet: bool
) -> dict[str, Any]:
    from textveil.reproduce import study_of
    from textveil.reproduce.report import report

    study = study_of(paper)
    cells = study.cells(scale, part)
    folder = out or RESULTS / study.paper
    with bar(f"paper {study.paper}", len(cells), unit="cells", quiet=quiet) as advance:
        whole, lines = report(
            study, scale, part, cache=cache, data=data, jobs=jobs, out=folder, progress=lambda cell, seconds: advance(1)
        )
    if not quiet:
        for line in lines:
            typer.echo(line)
        typer.echo(f"paper {study.paper}: {folder}/README.md")
    return whole


def _data(given: Path | None) -> Path | None:
    """The evaluation data, if it is anywhere."""
    from textveil.core.errors import BadInput

    named = given or (Path(os.environ["TEXTVEIL_DATA"]) if os.environ.get("TEXTVEIL_DATA") else None)
    if named is not None and not named.is_dir():
        raise BadInput("is not a folder", where=named)
    return named


def _complain(found: dict[str, dict[str, Any]]) -> None:
    """A failed cell leaves the others' results in place, and an exit code that says so."""
    from textveil.core.errors import BadInput

    failed = [f for whole in found.values() for f in whole["failed"]]
    if failed:
        raise BadInput(f"{len(failed)} cells failed, the first in '{failed[0]['cell']}': {failed[0]['why']}")
