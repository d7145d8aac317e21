"""`textveil pii score`: found spans beside gold ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import ScoreScheme
from textveil.cli.options import AsJson, Format, Header, TextField, names_of, option
from textveil.cli.output import percent, print_result

MEASURES = ("strict", "exact", "type", "partial")


def score(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="What is right: spans (jsonl), or BIO (conll).")],
    found: Annotated[Path, typer.Argument(metavar="FOUND", help="What was found, in the same format.")],
    documents: Annotated[
        Path | None, option("The texts: then documents without any span count, and errors are told apart.")
    ] = None,
    records: Annotated[Path | None, option("The records: misses that no record could have shown are counted.")] = None,
    scheme: Annotated[
        ScoreScheme, option("How overlaps are rewarded: as the WikiPII paper does, or as SemEval-2013.")
    ] = ScoreScheme.PAPER,
    labels: Annotated[str | None, option("Only these labels, e.g. BD,SP.")] = None,
    only_marked: Annotated[
        bool, option("Only documents with a gold span; this flatters precision.", "--only-marked")
    ] = False,
    repair_bio: Annotated[
        bool, option("Read an I- tag that follows nothing as the beginning of a span.", "--repair-bio")
    ] = False,
    text_field: TextField = None,
    format: Format = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Score found spans: four measures with intervals over documents, errors by kind, and what correcting them costs.

    Gold spans that overlap are refused. The result holds counts and no text.

    Example: textveil pii score reviewed.jsonl spans.jsonl --documents letters.jsonl
    """
    from textveil.pii.scores.rewards import Scheme
    from textveil.recipes.pii.score import ScoreJob, score_files

    chosen = () if labels is None else names_of(labels)
    job = ScoreJob(
        gold,
        found,
        documents,
        records,
        Scheme(scheme.value),
        repair_bio,
        only_marked,
        chosen,
        text_field,
        format,
        header,
    )
    result = score_files(job)
    print_result(result, score_lines(result), as_json=as_json)


def score_lines(result: dict[str, Any]) -> list[str]:
    """The result for people."""
    lines = [
        f"{result['gold']:,} gold spans, {result['found']:,} found, {result['documents']:,} documents ({result['scheme']})",
        f"{'':8}  precision  recall     F1  [95 % over documents]",
    ]
    for name in MEASURES:
        own = result["scores"][name]
        low, high = own["intervals"]["f1"]
        lines.append(
            f"{name:8}  {own['precision']:9.3f}  {own['recall']:6.3f}  {own['f1']:5.3f}  [{low:.3f}, {high:.3f}]"
        )
    lines.append(f"{'label':12}   gold  found  strict F1")
    for label, row in result["labels"].items():
        lines.append(f"{label:12}  {row['gold']:5,}  {row['found']:5,}  {row['strict']['f1']:9.3f}")
    lines.append("errors: " + ", ".join(f"{kind} {count:,}" for kind, count in result["errors"].items()))
    lines.append(
        f"documents without a miss: {result['documents_complete']:,} of {result['documents_with_gold']:,} "
        f"({percent(result['document_recall'])}); spans covered whole: {percent(result['cover_recall'])}"
    )
    lines.append(
        f"to correct: {result['actions']:,} actions instead of {result['actions_by_hand']:,} by hand "
        f"({percent(result['actions_saved'])} saved)"
    )
    return lines
