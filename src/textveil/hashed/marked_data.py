"""Marked documents handed over in Python: (documents, spans), checked before anything is charged or trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from textveil.core.errors import BadInput
from textveil.hashed.decode import Span

SpanLike = tuple[int, int] | tuple[int, int, str] | Span
Marked = tuple[Sequence[str], Sequence[Sequence[SpanLike]]]

_POSSIBLE = "(documents, spans): a list of texts, and for each a list of (start, end) or (start, end, label)"


def check_marked(data: Any) -> None:
    """Refuse what is no pair of texts and spans; messages name places, never text."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise BadInput("marked documents are a pair", possible=_POSSIBLE)
    documents, spans = data
    check_pairs(documents, spans)
    for number, (text, marked) in enumerate(zip(documents, spans, strict=True)):
        if not isinstance(text, str):
            raise BadInput(f"document {number} is no text but a {type(text).__name__}", possible=_POSSIBLE)
        for _ in bounds_of(marked, text, number):
            pass


def check_pairs(documents: Any, spans: Any) -> None:
    """Refuse lists of different lengths, and a single text in place of a list."""
    for given in (documents, spans):
        is_table = len(getattr(given, "shape", (1,))) != 1  # which is a sequence of its columns' names
        if isinstance(given, (str, bytes, dict, set, frozenset)) or is_table or not hasattr(given, "__len__"):
            raise BadInput(f"a {type(given).__name__} is no list of documents or spans", possible=_POSSIBLE)
    if len(documents) != len(spans):
        raise BadInput(
            f"{len(documents)} documents and {len(spans)} lists of spans", possible="one list for each document"
        )


def bounds_of(marked: Sequence[SpanLike], text: str, number: int) -> Iterator[tuple[int, int]]:
    """Start and end of each span of a document, checked against its length."""
    for span in marked:
        start, end = span[0], span[1]
        is_whole = isinstance(start, int | np.integer) and isinstance(end, int | np.integer)
        if not (is_whole and 0 <= start < end <= len(text)):
            raise BadInput(
                f"document {number} has a span that does not fit it",
                possible="0 <= start < end <= length, in characters",
            )
        yield int(start), int(end)
