"""`textveil train apply`: use a trained model on raw text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import (
    PRINTING,
    AsJson,
    IdField,
    PrivateOut,
    Reading,
    Source,
    option,
    plain,
)
from textveil.cli.output import print_result
from textveil.cli.progress import bars


def apply(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A release folder of train tagger, classifier or lm, or a Hugging Face folder."
        ),
    ],
    source: Source,
    out: PrivateOut,
    page: Annotated[bool, option("Taggers: also write a page with the finds highlighted.", group=PRINTING)] = True,
    conll: Annotated[bool, option("Taggers: also write every word with its tag.", "--conll", group=PRINTING)] = False,
    chances: Annotated[
        bool, option("Classifiers: write the chance of every class.", "--chances", group=PRINTING)
    ] = False,
    next_words: Annotated[
        int, option("Language models: how many likeliest next words to write; 0 for none.", "--next", group=PRINTING)
    ] = 5,
    id_field: IdField = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Use a trained model on texts: spans of a tagger, labels of a classifier, perplexity and next words of a language model.

    Example: textveil train apply tagger letters.jsonl -o found
    """
    from textveil.recipes.new_documents import NewDocuments
    from textveil.recipes.training.apply import ApplyJob, apply_model

    documents = NewDocuments(source, id_field, **plain(reading))
    job = ApplyJob(model, documents, out, page, conll, chances, next_words)
    result = apply_model(job, bar=bars(quiet=as_json))
    what = {"tagger": "spans", "classifier": "labels", "lm": "scores"}[result["kind"]]
    lines = [
        f"{result['answers']:,} {what} for {result['records']:,} records "
        f"({result['records_per_second']:,.0f} records a second): {out}/{result['file']}",
        *([f"read {out}/highlights.html"] if result["kind"] == "tagger" and page else []),
        f"{out} tells about your texts: only you can read it",
    ]
    print_result(result, lines, as_json=as_json)
