"""`textveil train canaries`: put made-up secrets into training data, to test afterwards what the model kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import CanaryForm, ModelKind
from textveil.cli.options import AsJson, LabelField, Reading, UserField, option, plain
from textveil.cli.output import print_result


def canaries(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The training file.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="Folder for data.jsonl and canaries.json.")],
    kind: Annotated[ModelKind, option("What will be trained.")] = ModelKind.LM,
    form: Annotated[
        list[CanaryForm] | None,
        option("Where the secret S stands among words H of a sentence; repeat for several. Without: all."),
    ] = None,
    copies: Annotated[
        list[int] | None, option("How often a canary is put in; repeat for several. Without: 1 and 10.")
    ] = None,
    each: Annotated[int, option("Canaries of each form and number of copies.")] = 1,
    candidates: Annotated[int, option("Words that a secret is drawn from; more let the audit show more.")] = 4096,
    coin: Annotated[
        bool, option("A fair coin decides which canaries go in, for the audit training.one_run.", "--coin")
    ] = False,
    label_field: LabelField = "label",
    user_field: UserField = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Add canaries to training data. Train on data.jsonl, then audit the model with --truth canaries.json.

    Example: textveil train canaries letters.jsonl -o planted --text-field text --form HSH --copies 1 --copies 10
    """
    from textveil.recipes.training.canaries import CanaryJob, plant

    forms = tuple(one.value for one in form or CanaryForm)
    job = CanaryJob(
        source, out, kind.value, forms, tuple(copies or (1, 10)), each, candidates, coin, label_field, user_field,
        **plain(reading),
    )  # fmt: skip
    result = plant(job)
    planted = f"{result['planted']} of {result['made']} canaries planted"
    lines = [
        f"{planted}: {result['data']} ({result['examples']:,} examples)",
        f"keep {result['canaries']} apart: it names the secrets",
    ]
    print_result(result, lines, as_json=as_json)
