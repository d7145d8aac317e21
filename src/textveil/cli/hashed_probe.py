"""`textveil hashed probe`: which of these terms does the model extract from a template?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import AsJson, option
from textveil.cli.output import print_result


def probe(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder, sealed or not.")],
    terms: Annotated[Path, option("A text file with one term per line.")],
    template: Annotated[str, option("A sentence with {term} where the term goes.")],
    as_json: AsJson = False,
) -> None:
    """Fill a template with each term and show which terms the model extracts: what anyone who has it can do.

    Example: textveil hashed probe model --terms states.txt --template "The laws of the State of {term}."
    """
    from textveil.hashed.probe import probe_folder

    answers = probe_folder(model, terms, template)
    extracted = sum(answer.extracted for answer in answers)
    width = max(4, *(len(answer.term) for answer in answers))
    lines = [f"{'term':{width}}  {'score':>8}  extracted"]
    for answer in answers:
        lines.append(f"{answer.term:{width}}  {answer.score:8.3f}  {'yes' if answer.extracted else ''}".rstrip())
    lines.append(f"{extracted} of {len(answers)} terms extracted")
    print_result({"terms": [answer._asdict() for answer in answers], "extracted": extracted}, lines, as_json=as_json)
