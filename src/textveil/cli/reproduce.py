"""`textveil reproduce`: a paper's tables and figures, run again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textveil.cli.choices import Scale
from textveil.cli.options import AsJson, option, value_of
from textveil.cli.output import print_json
from textveil.cli.progress import bar

if TYPE_CHECKING:
    from textveil.reproduce.study import Study

RESULTS = Path("docs/results")
CACHE = Path(".textveil-studies")


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="The paper's number (03, 06 ...), or all.")],
    scale: Annotated[Scale, option("small takes minutes; full has the paper's own sizes.")] = Scale.SMALL,
    data: Annotated[Path | None, option("The folder of evaluation data. Without: TEXTVEIL_DATA.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Cells (one figure each) that run at the same time.")] = 1,
    part: Annotated[str | None, option("Only this part of the study.")] = None,
    out: Annotated[Path | None, option("Folder of the result. Without: docs/results/NN.")] = None,
    cache: Annotated[Path, option("Where finished cells are kept, so that a stopped run goes on.")] = CACHE,
    judge_again: Annotated[
        bool, option("Judge what the result folder holds by today's rules; run nothing.", "--judge-again")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a paper's tables and figures again and judge each of its claims.

    Example: textveil reproduce 06 --scale small --jobs 2
    """
    from textveil.reproduce import PAPERS, study_of
    from textveil.reproduce.report import judge_again as judged_again

    papers = sorted(PAPERS) if paper == "all" else [paper]
    summaries = {}
    for name in papers:
        study = study_of(name)
        folder = RESULTS / study.paper if out is None else out / name if paper == "all" else out
        if judge_again:
            summary, lines = judged_again(study, folder)
        else:
            summary, lines = _run(
                study, value_of(scale), part, folder, data=_data(data), jobs=jobs, cache=cache, quiet=as_json
            )
        summaries[name] = summary
        if not as_json:
            for line in [*lines, f"paper {study.paper}: {folder}/README.md"]:
                typer.echo(line)
    if as_json:
        print_json(summaries if paper == "all" else summaries[paper])
    _check_cells(summaries)


def _run(
    study: Study, scale: str, part: str | None, out: Path, *, data: Path | None, jobs: int, cache: Path, quiet: bool
) -> tuple[dict[str, Any], list[str]]:
    """Run what is not kept yet, with a bar that counts cells."""
    from textveil.reproduce.report import report

    with bar(f"paper {study.paper}", len(study.cells(scale, part)), unit="cells", quiet=quiet) as advance:
        return report(
            study, scale, part, cache=cache, data=data, jobs=jobs, out=out, progress=lambda cell, seconds: advance(1)
        )


def _data(given: Path | None) -> Path | None:
    """The evaluation data, if it is anywhere."""
    from textveil.core.errors import BadInput

    named = given or (Path(os.environ["TEXTVEIL_DATA"]) if os.environ.get("TEXTVEIL_DATA") else None)
    if named is not None and not named.is_dir():
        raise BadInput("is not a folder", where=named)
    return named


def _check_cells(summaries: dict[str, dict[str, Any]]) -> None:
    """A failed cell leaves the others' results in place, and an exit code that says so."""
    from textveil.core.errors import BadInput

    failed = [f for summary in summaries.values() for f in summary["failed"]]
    if failed:
        raise BadInput(f"{len(failed)} cells failed, the first in '{failed[0]['cell']}': {failed[0]['why']}")
