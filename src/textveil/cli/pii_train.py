"""`textveil pii train`: a tagger of personal data from marked documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import LabelNoise, TaggerKind
from textveil.cli.options import INPUT, MODEL, TRAINING, AsJson, Out, Spending, TextField, given, option
from textveil.cli.output import print_release
from textveil.cli.progress import bars


def train(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="Marked documents: jsonl with `text` and `spans`, or BIO (.conll).")
    ],
    out: Out,
    spans: Annotated[
        Path | None,
        option("The spans, where they are not in IN: jsonl with id, start, end, label, score.", group=INPUT),
    ] = None,
    text_field: TextField = None,
    repair_bio: Annotated[
        bool, option("BIO: an I- tag that follows nothing begins a span.", "--repair-bio", group=INPUT)
    ] = False,
    test: Annotated[
        Path | None, option("Marked documents that may be taken for public, to score the model on.", group=INPUT)
    ] = None,
    model: Annotated[
        TaggerKind, option("A hashed chain (quick, needs no torch), a BiLSTM or a transformer.", group=MODEL)
    ] = TaggerKind.CRF,
    encoder: Annotated[
        str, option("transformer: minilm, or the folder of an encoder.", metavar="NAME", group=MODEL)
    ] = "minilm",
    bits: Annotated[int, option("crf: its table has 2^bits slots.", group=MODEL)] = 18,
    noise: Annotated[
        LabelNoise,
        option(
            "Labels made by a program: use their scores as confidences, or take every label for right.", group=TRAINING
        ),
    ] = LabelNoise.CHANNEL,
    outside: Annotated[float, option("The confidence of words that no span marks.", group=TRAINING)] = 1.0,
    epochs: Annotated[
        int | None, option("Passes over the documents; without: 8, 10 or 3 by kind.", group=TRAINING)
    ] = None,
    rate: Annotated[float | None, option("Size of the steps; without: what suits the kind.", group=TRAINING)] = None,
    *,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Train a tagger on documents with marked spans, for pii find and pii mask. The model promises nothing.

    Example: textveil pii train letters.jsonl --spans reviewed.jsonl -o tagger --text-field text
    """
    from textveil.recipes.pii.train import MarkedSource, TaggerJob, train_tagger

    parameters = given(kind=model, epochs=epochs, rate=rate, bits=bits, noise=noise, outside=outside, encoder=encoder)
    job = TaggerJob(
        MarkedSource(source, spans, text_field, repair_bio), out, parameters,
        None if test is None else MarkedSource(test, None, text_field, repair_bio), spending.seed, spending.ledger,
        spending.other_data, spending.unpriced,
    )  # fmt: skip
    result = train_tagger(job, bar=bars(quiet=as_json))
    lines = [
        f"a {result['kind']} tagger for {', '.join(result['labels'])} from {result['spans']:,} spans in "
        f"{result['documents']:,} documents: {out}/"
    ]
    if result["scores"] is not None:
        lines.append(f"scores:  F1 {result['scores']['f1']:.3f}, recall {result['scores']['recall']:.3f} on {test}")
    print_release(result, out, lines, as_json=as_json)
