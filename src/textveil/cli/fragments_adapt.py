"""`textveil fragments adapt`: fine-tune a translation model on fragments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.fragments_make import PairReading
from textveil.cli.options import INPUT, TRAINING, AsJson, PrivateOut, option
from textveil.cli.output import print_result
from textveil.cli.progress import bars


def adapt(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A release that fragments make made.")],
    out: PrivateOut,
    model: Annotated[Path, option("A local Hugging Face folder of a translation model, Marian or its like.")],
    valid: Annotated[Path, option("Whole sentence pairs; their loss says when to stop.", group=INPUT)],
    general: Annotated[Path | None, option("General sentence pairs, for --replay.", group=INPUT)] = None,
    test: Annotated[Path | None, option("Sentence pairs to score: BLEU, chrF, lengths.", group=INPUT)] = None,
    replay: Annotated[
        float,
        option(
            "General sentence pairs for each fragment: keeps the model from writing short sentences.", group=TRAINING
        ),
    ] = 0.0,
    l2: Annotated[
        float, option("Pull the weights back to where they started, so strongly.", "--l2", group=TRAINING)
    ] = 0.0,
    rate: Annotated[float, option("Learning rate.", group=TRAINING)] = 0.000175,
    decay: Annotated[float, option("Weight decay.", group=TRAINING)] = 0.0001,
    dropout: Annotated[float, option("Dropout.", group=TRAINING)] = 0.2,
    epochs: Annotated[int, option("At most so many epochs.", group=TRAINING)] = 5,
    batch: Annotated[int, option("Pairs a step.", group=TRAINING)] = 32,
    beams: Annotated[int, option("Beams of the translations that are scored.", group=TRAINING)] = 4,
    *,
    reading: PairReading,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a translation model on fragments, and score it before and after.

    Makes a model folder like the one it starts from. The weights that are best on --valid are kept.

    Example: textveil fragments adapt pieces -o adapted --model opus-mt-de-en --valid valid.jsonl --source-field de
    --target-field en
    """
    from textveil.recipes.fragments.adapt import AdaptJob, adapt_model

    settings = {
        "rate": rate, "decay": decay, "dropout": dropout, "replay": replay, "l2": l2, "epochs": epochs, "batch": batch,
    }  # fmt: skip
    others = [None if path is None else reading.file(path) for path in (general, test)]
    job = AdaptJob(folder, model, out, reading.file(valid), others[0], others[1], beams, settings)
    result = adapt_model(job, bar=bars(quiet=as_json))
    first, last = result["valid_loss"]
    lines = [
        f"{result['fragments']:,} fragments, {result['steps']:,} steps: {out}/",
        f"loss on validation sentences {first:.3f} -> {last:.3f}",
    ]
    if "after" in result:
        (low, high), before, after = result["bleu"]["interval"], result["before"], result["after"]
        lines += [
            f"BLEU {before['bleu']:.1f} -> {after['bleu']:.1f} ({result['bleu']['gain']:+.1f} [{low:+.1f}, {high:+.1f}])",
            f"chrF {before['chrf']:.1f} -> {after['chrf']:.1f}",
            f"length of the output over the reference {before['length_ratio']:.2f} -> {after['length_ratio']:.2f}",
        ]
    print_result(result, lines, as_json=as_json)
