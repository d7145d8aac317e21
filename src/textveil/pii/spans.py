"""Spans of documents in files: jsonl, one object a span with `id`, `start`, `end`, `label`, `score` and `rule`.

The type itself is `textveil.text.spans.Span`. `type` is read as `label`. A file of spans holds offsets, not words,
but offsets of private text are private: it is written for its owner (mode 600).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects
from textveil.text.spans import Finder, Span, without_overlaps

SPAN_FIELDS = ("id", "start", "end", "label", "score", "rule")


def span_of(row: Mapping[str, Any]) -> Span:
    """A span that a file holds; a `BadInput` without a place says what is wrong with it.

    >>> span_of({"start": 0, "end": 4, "type": "SP"})
    Span(start=0, end=4, label='SP', score=1.0, rule='', context=())
    """
    start, end, label = row.get("start"), row.get("end"), row.get("label", row.get("type"))
    if not (_is_place(start) and _is_place(end) and 0 <= start < end):
        raise BadInput("a span has id, start, end and label; the end is a whole number above the start")
    if not isinstance(label, str) or not label or any(sign.isspace() for sign in label):
        raise BadInput("a span has a label without blanks")
    score = row.get("score", 1.0)
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
        raise BadInput("the score of a span is a number from 0 to 1")
    return Span(start, end, label, float(score), str(row.get("rule", "")))


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_spans(path: Path) -> dict[str, list[Span]]:
    """All spans of a file by the id of their document, each list in order of its starts."""
    check_readable(path)
    lines = Lines(path)
    by_id: dict[str, list[Span]] = {}
    for row in objects(lines):
        if row.get("id") is None:
            raise lines.bad("is missing", field="id")
        try:
            by_id.setdefault(str(row["id"]), []).append(span_of(row))
        except BadInput as error:
            raise lines.bad(error.what) from None
    return {name: sorted(spans) for name, spans in by_id.items()}


def span_lines(name: str, spans: Iterable[Span]) -> str:
    """The lines of one document's spans.

    >>> span_lines("7", [Span(0, 4, "SP", 0.5, "record:spouse")])
    '{"id": "7", "start": 0, "end": 4, "label": "SP", "score": 0.5, "rule": "record:spouse"}\\n'
    """
    return "".join(json.dumps({"id": name, **span.to_json()}, ensure_ascii=False) + "\n" for span in spans)


def check_inside(spans: Iterable[Span], length: int, *, where: object, name: str) -> None:
    """Refuse spans that reach beyond the end of their text."""
    if any(span.end > length for span in spans):
        raise BadInput(
            f"a span does not fit document '{name}' of {length} characters",
            where=where,
            possible="spans of this text",
        )


def check_apart(spans: Sequence[Span], *, where: object, name: str) -> None:
    """Refuse spans that overlap: a character has one label."""
    for left, right in pairwise(sorted(spans)):
        if left.overlaps(right):
            raise BadInput(
                f"two spans of document '{name}' overlap, from {right.start} to {min(left.end, right.end)}", where=where
            )


__all__ = [
    "SPAN_FIELDS",
    "Finder",
    "Span",
    "check_apart",
    "check_inside",
    "read_spans",
    "span_lines",
    "span_of",
    "without_overlaps",
]
