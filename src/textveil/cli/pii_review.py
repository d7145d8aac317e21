"""`textveil pii review`: look at found spans, one by one, on a page of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import ReviewExport
from textveil.cli.options import AsJson, Reading, names_of, option, plain
from textveil.cli.output import print_result

BEGIN, SERVE, EXPORT = "To begin a review", "The page", "To export"


def review(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="The file of the review: made, or gone on with.")],
    documents: Annotated[Path | None, option("The documents to review, with an id each.", group=BEGIN)] = None,
    spans: Annotated[
        Path | None, option("What was found in them: jsonl with id, start, end, label, score, rule.", group=BEGIN)
    ] = None,
    records: Annotated[
        Path | None,
        option("The records of the documents: jsonl with id and fields, shown beside the text.", group=BEGIN),
    ] = None,
    labels: Annotated[
        str | None, option("Labels that may be given, e.g. PERSON,DATE; those found are added.", group=BEGIN)
    ] = None,
    reviewer: Annotated[str, option("Who reviews: each person has an own pass.", group=SERVE)] = "me",
    port: Annotated[int, option("The port of the page on this machine; 0: a free one.", group=SERVE)] = 0,
    export: Annotated[
        ReviewExport | None, option("Write what the reviewer has finished, in this format, and end.", group=EXPORT)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Where the export goes.", rich_help_panel=EXPORT)
    ] = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Confirm, reject or correct found spans on a local page, by keyboard or mouse. Every step is saved at once.

    The store holds the texts, for their owner only. The page can be opened only with the address that is printed.

    Example: textveil pii review letters.review --documents letters.jsonl --spans spans.jsonl --records records.jsonl
    """
    from textveil.core import BadInput
    from textveil.recipes.pii.review import ReviewJob, export_review, open_review

    if (export is None) != (out is None):
        raise BadInput("an export has a format and a file", possible="--export bio -o reviewed.conll")
    chosen = () if labels is None else names_of(labels)
    opened = open_review(ReviewJob(store, documents, spans, records, chosen, **plain(reading)))
    if export is not None and out is not None:
        result = export_review(opened, export.value, reviewer, out)
        print_result(result, [f"{result['documents']:,} documents: {out}"], as_json=as_json)
        return
    from textveil.web.app import local_app, new_token
    from textveil.web.pii_review import review_routes
    from textveil.web.server import serve_locally

    token = new_token()

    def ready(taken: int) -> None:
        address = f"http://127.0.0.1:{taken}/review?token={token}"
        lines = [f"open {address}", "Ctrl-C ends the page; every step is saved, and the same command goes on."]
        print_result({"address": address}, lines, as_json=as_json)

    serve_locally(local_app(review_routes(opened, reviewer), token), port, ready=ready)
