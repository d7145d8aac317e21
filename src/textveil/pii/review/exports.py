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
from textveil.text.spans import Span
from textveil.text.tokens import tokenize

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
        yield from (_line({"id": name, **span.to_json()}) for span in spans)


def _bio(documents: Iterable[Reviewed]) -> Iterator[str]:
    for _, text, spans in documents:
        yield "".join(f"{token}\t{tag}\n" for token, tag in bio_of(text, spans)) + "\n"


def bio_of(text: str, spans: list[Span]) -> list[tuple[str, str]]:
    """Tokens with their tags; a token belongs to a span that it overlaps.

    >>> bio_of("Anna Meyer called.", [Span(0, 10, "PERSON")])
    [('Anna', 'B-PERSON'), ('Meyer', 'I-PERSON'), ('called', 'O'), ('.', 'O')]
    """
    tagged: list[tuple[str, str]] = []
    last: Span | None = None
    for start, end in token_places(text):
        span = next((s for s in spans if s.start < end and start < s.end), None)
        tag = "O" if span is None else f"{'I' if span is last else 'B'}-{span.label}"
        tagged.append((text[start:end], tag))
        last = span
    return tagged


def token_places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word and each sign; white space is no token."""
    place = 0
    for token in tokenize(text):
        if token.is_word:
            yield place, place + len(token.text)
        else:
            yield from ((place + k, place + k + 1) for k, sign in enumerate(token.text) if not sign.isspace())
        place += len(token.text)


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

__all__ = ["EXPORTS", "bio_of", "export", "token_places"]
