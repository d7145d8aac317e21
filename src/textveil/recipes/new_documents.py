"""Documents that a model is used on: read record by record, each with the name that the output gives it.

What a model says about them is as private as they are: it goes into a folder that only its owner can read, it is no
release, and nothing is charged for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textveil.recipes.progress import Bar
from textveil.text import readers


class NewDocument(NamedTuple):
    """A text, its name (its own id, else its number from 1), and its tokens where the file says which they are."""

    name: Any
    text: str
    words: list[str] | None


@dataclass(frozen=True)
class NewDocuments(readers.FileOptions):
    """A file in any format that can be read, and where in it the texts and their names are."""

    source: Path
    id_field: str | None = None  # None: `id` in jsonl where a record has it

    def read(self, bar: Bar) -> Iterator[NewDocument]:
        """All documents, in the file's order."""
        kind = readers.format_of(self.source, self.format)[0]
        field = self.id_field or ("id" if kind in ("json", "jsonl") else None)
        fields = () if field is None else (field,)
        reader = readers.open_reader(self.source, fields=fields, columns=(), **self.reading())
        bytes_told = 0
        with bar("reading", reader.size, "bytes") as advance:
            for number, record in enumerate(reader, 1):
                own = record.fields.get(field) if field is not None else None
                words = record.text.split(" ") if kind == "conll" else None
                yield NewDocument(own if isinstance(own, str | int) else number, record.text, words)
                advance(reader.bytes_read - bytes_told)
                bytes_told = reader.bytes_read


__all__ = ["NewDocument", "NewDocuments"]
