"""`textveil fragments adapt`: fine-tune a translation model on fragments, or on sentence pairs under a promise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.fragments_make import PairReading
from textveil.cli.options import INPUT, PROMISE, TRAINING, AllowLargeDelta, AsJson, Out, Spending, option, plain
from textveil.cli.output import print_release, print_result
from textveil.cli.progress import bars
from textveil.core import BadInput


def adapt(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FRAGMENTS", help="A release that fragments make made; with --epsilon, confidential sentence pairs."
        ),
    ],
    out: Out,
    model: Annotated[Path, option("A local Hugging Face folder of a translation model, Marian or its like.")],
    valid: Annotated[
        Path | None, option("Whole sentence pairs; their loss says when to stop. Not with --epsilon.", group=INPUT)
    ] = None,
    general: Annotated[Path | None, option("General sentence pairs, for --replay and --ewc.", group=INPUT)] = None,
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
    ewc: Annotated[
        float, option("The same, for weights that --general needs (EWC), so strongly.", "--ewc", group=TRAINING)
    ] = 0.0,
    join: Annotated[int, option("Up to so many unrelated fragments in a row, as one example.", group=TRAINING)] = 1,
    length_tags: Annotated[
        bool, option("Mark fragments by their length; whole sentences have no mark.", "--length-tags", group=TRAINING)
    ] = False,
    rate: Annotated[
        float | None, option("Learning rate. Without: 0.000175, with --epsilon 0.0005.", group=TRAINING)
    ] = None,
    decay: Annotated[float, option("Weight decay.", group=TRAINING)] = 0.0001,
    dropout: Annotated[float, option("Dropout.", group=TRAINING)] = 0.2,
    epochs: Annotated[
        int | None, option("At most so many epochs. Without: 5, with --epsilon 10.", group=TRAINING)
    ] = None,
    batch: Annotated[
        int | None, option("Pairs a step. Without: 32, with --epsilon 512 on average.", group=TRAINING)
    ] = None,
    beams: Annotated[int, option("Beams of the translations that are scored.", group=TRAINING)] = 4,
    *,
    epsilon: Annotated[
        float | None,
        option(
            "Learn from whole sentence pairs under DP-SGD: the loss of one sentence pair. FRAGMENTS is then the "
            "confidential file.",
            group=PROMISE,
        ),
    ] = None,
    delta: Annotated[float, option("With --epsilon: chance that the bound fails.", group=PROMISE)] = 1e-6,
    clip: Annotated[
        float, option("With --epsilon: the longest pull that a sentence pair may have.", group=PROMISE)
    ] = 0.5,
    allow_large_delta: AllowLargeDelta = False,
    reading: PairReading,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a translation model on fragments, and score it before and after.

    Makes a model folder like the one it starts from. The weights that are best on --valid are kept. With --epsilon, whole
    sentence pairs are learnt from instead, under differential privacy, and OUT is a release.

    Example: textveil fragments adapt pieces -o adapted --model opus-mt-de-en --valid valid.jsonl --source-field de
    --target-field en
    """
    shared = {"rate": rate, "epochs": epochs, "batch": batch}
    given = {name: value for name, value in shared.items() if value is not None}
    others = [None if path is None else reading.file(path) for path in (general, test)]
    if epsilon is not None:
        _check_private(
            valid=valid, general=general, replay=replay, l2=l2, ewc=ewc, join=join > 1, length_tags=length_tags
        )
        from textveil.recipes.fragments.adapt_private import PrivateAdaptJob, adapt_privately

        parameters = {**given, "epsilon": epsilon, "delta": delta, "clip": clip}
        private = PrivateAdaptJob(
            reading.file(source), model, out, others[1], beams, parameters, allow_large_delta=allow_large_delta,
            **plain(spending),
        )  # fmt: skip
        result = adapt_privately(private, bar=bars(quiet=as_json))
        lines = [f"{result['steps']:,} updates, noise {result['noise']:.3g}: {out}/model/", *_score_lines(result)]
        print_release(result, out, lines, as_json=as_json)
        return
    if valid is None:
        raise BadInput("--valid is missing", possible="--valid FILE with whole sentence pairs, to know when to stop")
    from textveil.recipes.fragments.adapt import AdaptJob, adapt_model

    settings = {
        **given, "decay": decay, "dropout": dropout, "replay": replay, "l2": l2, "ewc": ewc, "join": join,
        "length_tags": length_tags,
    }  # fmt: skip
    job = AdaptJob(source, model, out, reading.file(valid), others[0], others[1], beams, settings)
    result = adapt_model(job, bar=bars(quiet=as_json))
    first, last = result["valid_loss"]
    lines = [
        f"{result['fragments']:,} fragments, {result['steps']:,} steps: {out}/",
        f"loss on validation sentences {first:.3f} -> {last:.3f}",
        *_score_lines(result),
    ]
    print_result(result, lines, as_json=as_json)


def _check_private(**given: object) -> None:
    """Refuse what belongs to fragments: under a promise nothing may be chosen by looking at other text."""
    used = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if used:
        raise BadInput(f"{used[0]} goes with fragments, not with --epsilon", possible="one of them")


def _score_lines(result: dict[str, Any]) -> list[str]:
    if "after" not in result:
        return []
    (low, high), before, after = result["bleu"]["interval"], result["before"], result["after"]
    return [
        f"BLEU {before['bleu']:.1f} -> {after['bleu']:.1f} ({result['bleu']['gain']:+.1f} [{low:+.1f}, {high:+.1f}])",
        f"chrF {before['chrf']:.1f} -> {after['chrf']:.1f}",
        f"length of the output over the reference {before['length_ratio']:.2f} -> {after['length_ratio']:.2f}",
    ]
