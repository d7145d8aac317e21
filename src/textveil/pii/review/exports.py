"""A finished review in the formats of other tools. Only finished documents leave; each is private text for its owner.

jsonl           one object a document: id, text, spans
spans           one object a span: id, start, end, label, score, rule (what `pii mask --spans` and `pii score` read)
bio             CoNLL: a token and its tag a line, an empty line after each document
spacy           jsonl of [text, {"entities": [[start, end, label]]}], which spaCy's converters read
label-studio    a JSON list of tasks with predictions, as Label Studio imports them
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from textveil.core.errors import UnknownName
from textveil.pii.bio import bio_lines
from textveil.pii.spans import Span, span_lines

from .marks import kept_spans
from .store import ReviewState

Reviewed = tuple[str, str, list[Span]]  # id, text, spans


def export(format: str, states: Iterable[ReviewState]) -> Iterator[str]:
    """The lines of an export, with their line ends."""
    if format not in EXPORTS:
        raise UnknownName("format of an export", format, EXPORTS)
    done = ((s.document.id, s.document.text, kept_spans(s.marks)) for s in states if s.done)
    return EXPORTS[format](done)


def _jsonl(documents: Iterable[Reviewed]) -> Iterator[str]:
    for name, text, spans in documents:
        yield _line({"id": name, "text": text, "spans": [span.to_json() for span in spans]})


def _spans(documents: Iterable[Reviewed]) -> Iterator[str]:
    for name, _, spans in documents:
        yield span_lines(name, spans)


def _bio(documents: Iterable[Reviewed]) -> Iterator[str]:
    for _, text, spans in documents:
        yield bio_lines(text, spans)


def _spacy(documents: Iterable[Reviewed]) -> Iterator[str]:
    for _, text, spans in documents:
        yield _line([text, {"entities": [[span.start, span.end, span.label] for span in spans]}])


def _label_studio(documents: Iterable[Reviewed]) -> Iterator[str]:
    yield "[\n"
    for n, (name, text, spans) in enumerate(documents):
        result = [_label_studio_region(k, span, text) for k, span in enumerate(spans)]
        task = {"data": {"text": text, "id": name}, "annotations": [{"result": result}]}
        yield (",\n" if n else "") + json.dumps(task, ensure_ascii=False)
    yield "\n]\n"


def _label_studio_region(number: int, span: Span, text: str) -> dict[str, Any]:
    value = {"start": span.start, "end": span.end, "text": span.of(text), "labels": [span.label]}
    return {"id": f"s{number}", "from_name": "label", "to_name": "text", "type": "labels", "value": value}


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


EXPORTS: dict[str, Callable[[Iterable[Reviewed]], Iterator[str]]] = {
    "jsonl": _jsonl,
    "spans": _spans,
    "bio": _bio,
    "spacy": _spacy,
    "label-studio": _label_studio,
}

__all__ = ["EXPORTS", "export"]
