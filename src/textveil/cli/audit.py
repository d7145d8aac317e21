"""`textveil audit`: attack a release folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.output import evidence_line, print_json
from textveil.cli.progress import bar


def audit(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A release folder.")],
    attack: Annotated[list[str] | None, typer.Option(help="Attacks to run; repeat for several.")] = None,
    truth: Annotated[Path | None, typer.Option(help="The original file (or canaries.json), to score.")] = None,
    public: Annotated[Path | None, typer.Option(help="Public text, or texts that were not trained on.")] = None,
    vectors: Annotated[str | None, typer.Option(help="The vectors of the release, if they have moved.")] = None,
    spans: Annotated[Path | None, typer.Option(help="Hashed models: the marked spans, if not in the original.")] = None,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Attack a release with nothing but its folder, and put the evidence on its card.

    Example: textveil audit out --truth reviews.jsonl
    """
    from textveil.core import Guarantee, read_manifest
    from textveil.recipes.audit import verdict_of

    if read_manifest(folder)["mechanism"].startswith("counts."):
        from textveil.recipes.counts_audit import audit_counts

        found = audit_counts(
            folder,
            attack or ["counts.passage"],
            truth=truth,
            text_field=text_field,
            bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json),
        )
    elif read_manifest(folder)["mechanism"].startswith("training."):
        from textveil.recipes.train_audit import audit_training

        found = audit_training(
            folder,
            attack or ["training.exposure"],
            truth=truth,
            public=public,
            text_field=text_field,
            progress=lambda name: typer.echo(f"running {name} ...", err=True),
        )
    elif read_manifest(folder)["mechanism"].startswith("hashed."):
        from textveil.recipes.hashed_audit import DEFAULT, audit_hashed

        found = audit_hashed(
            folder,
            attack or list(DEFAULT),
            truth=truth,
            spans=spans,
            text_field=text_field,
            progress=lambda name: typer.echo(f"running {name} ...", err=True),
        )
    else:
        from textveil.recipes.audit import audit_folder

        found = audit_folder(
            folder,
            attack or ["words.bayes"],
            truth=truth,
            public=public,
            vectors=vectors,
            text_field=text_field,
            progress=lambda name: typer.echo(f"running {name} ...", err=True),
        )
    promise = Guarantee.from_json(read_manifest(folder)["guarantee"])
    if as_json:
        print_json({"evidence": [e.to_json() for e in found]})
        return
    for evidence in found:
        typer.echo(evidence_line(evidence.to_json()))
        typer.echo(f"  {verdict_of(evidence, promise)}")
        for note in evidence.notes:
            typer.echo(f"  {note}")
    typer.echo(f"the card has it: {folder}/card.html")
