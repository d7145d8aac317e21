"""Where recognisers found something, part by part: what a masking that was stopped does not have to look for again.

Recognising is by far the longest step of a masking. Each part of the file gets a file of its own in the work folder, with
a line a record: offsets, labels and scores, never a value. It has its name only when it is complete and on disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.recipes.parts import cut_into_parts
from textveil.recipes.publish import Publication
from textveil.text.atomic import AtomicFile
from textveil.text.documents import Record
from textveil.text.spans import Span

Find = Callable[[list[Record]], list[list[Span]]]


@dataclass(frozen=True)
class FoundPlaces:
    """The places of a run's records, in the work folder of its publication."""

    publication: Publication

    def look(self, records: Iterable[Record], find: Find) -> Iterator[tuple[Record, list[Span]]]:
        """Every record with its places, from disk where its part is done, else found and kept."""
        for number, part in cut_into_parts(records):
            if not self._file(number).exists():
                self._write(number, find(part))
            yield from zip(part, self._read(number, len(part)), strict=True)

    def __call__(self, records: Iterable[Record]) -> Iterator[tuple[Record, list[Span]]]:
        """Every record with its places, all of which were found before."""
        for number, part in cut_into_parts(records):
            yield from zip(part, self._read(number, len(part)), strict=True)

    def _write(self, number: int, found: list[list[Span]]) -> None:
        with AtomicFile(self._file(number), private=True) as file:
            for spans in found:
                file.write(json.dumps([[s.start, s.end, s.label, s.score] for s in spans]).encode() + b"\n")

    def _read(self, number: int, count: int) -> list[list[Span]]:
        try:
            lines = self._file(number).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            lines = []
        if len(lines) != count:
            raise BadInput("the input changed while it was read, or a finished part is missing or cut off")
        return [[Span(*kept) for kept in json.loads(line)] for line in lines]

    def _file(self, number: int) -> Path:
        return self.publication.work(f"part-{number:06d}.places")


__all__ = ["FoundPlaces"]
