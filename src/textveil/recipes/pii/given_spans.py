"""Spans of a file in the place of a recogniser: what a person reviewed, or another tool found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.pii.spans import read_spans
from textveil.text.spans import Span


class GivenSpans:
    """Finds what a file says about each document. `names` has to hold the ids of the texts that `find` is given."""

    name = "given spans"

    def __init__(self, path: Path):
        self._path, self._by_id = path, read_spans(path)
        self.labels = tuple(sorted({span.label for spans in self._by_id.values() for span in spans}))
        self.names: list[str] = []
        self._used = set[str]()

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of the documents whose ids stand in `names`."""
        if len(texts) != len(self.names):
            raise BadInput("spans by id need the ids of the texts", where=self._path)
        found = []
        for name, text in zip(self.names, texts, strict=True):
            spans = self._by_id.get(name, [])
            if any(span.end > len(text) for span in spans):
                raise BadInput(
                    "a span does not fit its document", where=self._path, possible="spans of these documents"
                )
            self._used.add(name)
            found.append(spans)
        return found

    def check_all_used(self) -> None:
        """Refuse spans of documents that are not there."""
        strangers = len(set(self._by_id) - self._used)
        if strangers:
            raise BadInput(f"names {strangers} documents that are not in the file", where=self._path, field="id")


__all__ = ["GivenSpans"]
