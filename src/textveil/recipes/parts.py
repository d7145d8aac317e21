"""The finished parts of a file: each is a run of records, written whole or not at all, kept while the run is unfinished.

A part has its name only when it is complete and on disk, so a part that exists is never drawn again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from textveil.core import BadInput
from textveil.recipes.publish import Publication
from textveil.text import readers, writers
from textveil.text.documents import Record
from textveil.text.formats.parallel import pair_from_name

CHARACTERS_A_PART = (
    1 << 19
)  # about 90,000 words, a second of work: small files are shared out too, large ones make few files
_CHARACTERS_A_RECORD = 32  # what a record costs beside its text


class Parts:
    """Parts of the records of `like`'s format, in the work folder of a publication."""

    def __init__(self, publication: Publication, like: readers.Reader):
        self._publication, self._like = publication, like
        self._data = readers.data_file_name(like)

    def finished(self) -> frozenset[int]:
        """The numbers of the parts that are complete."""
        files = self._publication.work("").glob("part-[0-9][0-9][0-9][0-9][0-9][0-9]*")
        numbers = {int(file.name[5:11]) for file in files}
        return frozenset(n for n in numbers if all(file.exists() for file in _files(self._part(n))))

    def write(self, number: int, records: Iterable[Record]) -> None:
        """Write a part; it appears whole or not at all."""
        with writers.open_writer(self._part(number), like=self._like, part=True) as writer:
            for record in records:
                writer.write(record)

    def put_together(self, count: int) -> str:
        """Join all parts into the data file that leaves, and return its name."""
        parts = [self._part(number) for number in range(count)]
        if not all(file.exists() for part in parts for file in _files(part)):
            raise BadInput("a finished part is missing from the unfinished run", where=self._publication.work(""))
        writers.concat_parts(parts, self._publication.file(self._data), like=self._like)
        return self._data

    def _part(self, number: int) -> Path:
        """`part-000042.jsonl`; of two files that run in parallel, `part-000042.en+de` for both."""
        return self._publication.work(f"part-{number:06d}{self._data.removeprefix('data')}")


def _files(part: Path) -> tuple[Path, ...]:
    return pair_from_name(part) or (part,)


def cut_into_parts(records: Iterable[Record]) -> Iterator[tuple[int, list[Record]]]:
    """Numbered runs of records. The cuts depend on the records alone, so that every run of a file makes the same ones."""
    number, part, size = 0, list[Record](), 0
    for record in records:
        part.append(record)
        size += len(record.text) + _CHARACTERS_A_RECORD
        if size >= CHARACTERS_A_PART:
            yield number, part
            number, part, size = number + 1, [], 0
    if part:
        yield number, part
