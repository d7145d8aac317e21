"""`textveil classify train`: a small classifier on public vectors, ready to be asked by others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import ClassifierInputs, ClassifierKind
from textveil.cli.options import (
    INPUT,
    MODEL,
    TRAINING,
    AsJson,
    LabelField,
    PrivateOut,
    Reading,
    option,
    plain,
)
from textveil.cli.output import command_line, percent, print_result
from textveil.cli.progress import bars


def train(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Labelled texts: jsonl, csv, tsv, parquet.")],
    out: PrivateOut,
    label_field: LabelField = "label",
    at_least: Annotated[
        float | None, option("Labels are ratings: from here on positive, below negative.", group=INPUT)
    ] = None,
    kind: Annotated[
        ClassifierKind,
        option(
            "The network: the paper's three branches, one wide convolution, the same with squares, or none.",
            group=MODEL,
        ),
    ] = ClassifierKind.PAPER,
    inputs: Annotated[
        ClassifierInputs,
        option(
            "What it reads: one vector a text, one a piece (a true text CNN), or the mean of word vectors.", group=MODEL
        ),
    ] = ClassifierInputs.SENTENCE,
    encoder: Annotated[
        str | None, option("A public encoder: minilm (the default), or the folder of another one.", group=MODEL)
    ] = None,
    epochs: Annotated[int, option("How often each text is seen.", group=TRAINING)] = 8,
    rate: Annotated[float, option("Learning rate.", group=TRAINING)] = 0.002,
    batch: Annotated[int, option("Texts in a step.", group=TRAINING)] = 50,
    test_share: Annotated[float, option("Share of each class that is kept back for the score.", group=TRAINING)] = 0.2,
    seed: Annotated[int, option("Draws the test share and the first weights.", group=TRAINING)] = 0,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Train a classifier for `classify serve`. The folder is yours alone: it is no release, and promises nothing.

    Example: textveil classify train reviews.jsonl -o model --label-field rating --at-least 4 --text-field text
    """
    from textveil.recipes.mpc.train import ClassifierJob, train_classifier

    job = ClassifierJob(
        source=source, out=out, label_field=label_field, at_least=at_least, kind=kind.value, inputs=inputs.value,
        encoder=encoder, epochs=epochs, rate=rate, batch=batch, test_share=test_share, seed=seed, **plain(reading),
    )  # fmt: skip
    result = train_classifier(job, bar=bars(quiet=as_json))
    lines = [f"{result['texts']:,} texts, {len(result['classes'])} classes: {out}/ (only you can read it)"]
    if result["test"]:
        low, high = result["interval"]
        lines.append(
            f"accuracy {percent(result['accuracy'])} [{percent(low)}, {percent(high)}] on {result['test']:,} kept back; "
            f"the largest class alone {percent(result['majority'])}"
        )
    lines.append(f"next:    {command_line('classify', 'serve', out, '--keys', 'keys/server')}")
    print_result(result, lines, as_json=as_json)
