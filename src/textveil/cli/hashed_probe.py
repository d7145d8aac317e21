"""`textveil hashed probe`: which of these terms does the model extract from a template?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.output import print_json


def probe(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder, sealed or not.")],
    terms: Annotated[Path, typer.Option(help="A text file with one term per line.")],
    template: Annotated[str, typer.Option(help="A sentence with {term} where the term goes.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Fill a template with each term and show which terms the model extracts: what anyone who has it can do.

    Example: textveil hashed probe model --terms states.txt --template "The laws of the State of {term}."
    """
    from textveil.recipes.hashed_probe import probe_folder

    found = probe_folder(model, terms, template)
    if as_json:
        print_json({"terms": [answer._asdict() for answer in found], "extracted": sum(a.extracted for a in found)})
        return
    width = max(4, *(len(answer.term) for answer in found))
    typer.echo(f"{'term':{width}}  {'score':>8}  extracted")
    for answer in found:
        typer.echo(f"{answer.term:{width}}  {answer.score:8.3f}  {'yes' if answer.extracted else ''}".rstrip())
    typer.echo(f"{sum(a.extracted for a in found)} of {len(found)} terms extracted")
