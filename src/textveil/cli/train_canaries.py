"""`textveil train canaries`: put made-up secrets into training data, to test afterwards what the model kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.output import print_json


def canaries(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The training file.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="Folder for data.jsonl and canaries.json.")],
    kind: Annotated[str, typer.Option(help="What will be trained: lm | classifier | tagger.")] = "lm",
    form: Annotated[list[str] | None, typer.Option(help="HS | HSH | HHSHH | random; repeat for several.")] = None,
    copies: Annotated[list[int] | None, typer.Option(help="Copies of a canary; repeat (default 1 and 10).")] = None,
    each: Annotated[int, typer.Option(help="Canaries of each form and number of copies.")] = 1,
    candidates: Annotated[int, typer.Option(help="Words that a secret is drawn from: 2 to the cap in bits.")] = 4096,
    coin: Annotated[bool, typer.Option(help="A fair coin decides which canaries go in (training.one_run).")] = False,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    label_field: Annotated[str, typer.Option(help="The field or column that holds the label.")] = "label",
    user_field: Annotated[str | None, typer.Option(help="The field that names the user.")] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Add canaries to training data. Train on data.jsonl, then audit the model with --truth canaries.json.

    Example: textveil train canaries letters.jsonl -o planted --text-field text --form HSH --copies 1 --copies 10
    """
    from textveil.attacks.canaries import FORMS
    from textveil.recipes.train_canaries import CanaryJob, plant

    job = CanaryJob(
        source,
        out,
        kind,
        tuple(form or FORMS),
        tuple(copies or (1, 10)),
        each,
        candidates,
        coin,
        text_field,
        label_field,
        user_field,
        format,
    )
    result = plant(job)
    if as_json:
        print_json(result)
        return
    typer.echo(
        f"{result['planted']} of {result['made']} canaries planted: {result['data']} ({result['examples']:,} examples)"
    )
    typer.echo(f"keep {result['canaries']} apart: it names the secrets")
