"""Hold the finds of `hashed apply` against spans that people marked. The answer is about private text: it is only printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.errors import UnknownName
from textveil.recipes.hashed.apply import SPANS
from textveil.text.marked import spans_by_id
from textveil.text.span_scores import count_spans, score_spans

Places = dict[str, dict[str, list[tuple[int, int]]]]  # label -> document -> spans


@dataclass(frozen=True)
class ScoreJob:
    """Finds (a folder of `hashed apply`, or its spans.jsonl), marked spans, and the labels to score (all in common)."""

    found: Path
    spans: Path
    labels: tuple[str, ...] = ()


def score_finds(job: ScoreJob) -> dict[str, Any]:
    """Precision, recall and F1, strict and by overlap, of each label and of all of them."""
    path = job.found / SPANS if job.found.is_dir() else job.found
    found, marked = _places(path), _places(job.spans)
    if not marked:
        raise BadInput("holds no spans", where=job.spans)
    labels = _labels(job, found, marked)
    documents = sorted({name for label in labels for places in (found, marked) for name in places.get(label, {})})
    counts = {
        label: [count_spans(*(places.get(label, {}).get(name, []) for places in (marked, found))) for name in documents]
        for label in labels
    }
    return {
        "documents": len(documents),
        "labels": {label: score_spans(rows) for label, rows in counts.items()},
        "all": score_spans([_sum(rows) for rows in zip(*counts.values(), strict=True)]),
        "not_scored": sorted(set(marked) - set(labels)),
    }


def _labels(job: ScoreJob, found: Places, marked: Places) -> list[str]:
    """Those asked for; else those that were found and marked: a model of one label is not blamed for the others."""
    for label in job.labels:
        if label not in marked:
            raise UnknownName("label", label, marked)
    common = sorted(set(found) & set(marked))
    if not job.labels and found and not common:
        raise BadInput("none of its labels is among those that were marked", where=job.spans, possible="--label LABEL")
    return list(job.labels) or common or sorted(marked)


def _sum(rows: Sequence[Any]) -> Any:
    return type(rows[0])(*(sum(values) for values in zip(*rows, strict=True)))


def _places(path: Path) -> Places:
    places: Places = {}
    for name, spans in spans_by_id(path).items():
        for span in spans:
            places.setdefault(span.label, {}).setdefault(name, []).append((span.start, span.end))
    return places


__all__ = ["ScoreJob", "score_finds"]
