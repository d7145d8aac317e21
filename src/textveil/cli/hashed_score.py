"""`textveil hashed score`: how well a model finds what people marked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.options import AsJson, option
from textveil.cli.output import percent, print_result


def score(
    found: Annotated[Path, typer.Argument(metavar="FOUND", help="A folder of hashed apply, or its spans.jsonl.")],
    spans: Annotated[Path, option("What people marked: jsonl with `id`, `start`, `end`, `label`.")],
    label: Annotated[
        list[str] | None, option("Score these labels only. Without: all that were both found and marked.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold the finds of a model against marked spans: precision, recall and F1, of exact places and of overlaps.

    Nothing is written: the figures are about the texts.

    Example: textveil hashed score found --spans new-marked.jsonl
    """
    from textveil.recipes.hashed.score import ScoreJob, score_finds

    result = score_finds(ScoreJob(found, spans, tuple(label or ())))
    print_result(result, _lines(result), as_json=as_json)


def _lines(result: dict[str, Any]) -> Iterator[str]:
    yield f"{result['documents']:,} documents with marked or found spans; in brackets 95 % intervals over documents"
    for label, figures in result["labels"].items():
        yield from _block(label, figures)
    if len(result["labels"]) > 1:
        yield from _block("all of them", result["all"])
    if result["not_scored"]:
        yield f"marked, but not scored: {', '.join(result['not_scored'])}"


def _block(title: str, figures: dict[str, Any]) -> Iterator[str]:
    yield f"{title}: {figures['marked']:,} marked, {figures['found']:,} found"
    for measure, name in (("strict", "exact"), ("overlap", "overlap")):
        shown = [_figure(figures[measure], part) for part in ("precision", "recall", "f1")]
        yield f"  {name:<8} {'  '.join(shown)}"


def _figure(figures: dict[str, Any], part: str) -> str:
    low, high = figures["intervals"][part]
    return f"{'F1' if part == 'f1' else part} {percent(figures[part])} [{percent(low)}, {percent(high)}]"
