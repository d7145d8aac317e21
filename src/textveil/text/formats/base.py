"""What every format offers: records to go through, facts for a progress bar, and the way back into bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.lines import DEFAULT_MAX_LINE, Lines, check_readable

MISSING = "which texts are missing (null)"
_MOST_PASSING = 100  # names in `passes`; objects with made-up keys could have a million


@dataclass(frozen=True)
class Reading:
    """What is wanted of a file (see `open_reader`)."""

    text_field: str | None = None
    fields: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    nulls: str = "keep"
    max_line_bytes: int = DEFAULT_MAX_LINE

    def keeps(self, column: str) -> bool:
        """Whether this column leaves with the text."""
        return self.columns is None or column in self.columns


class Reader(ABC):
    """The records of a file. Going through it a second time reads the file again.

    Making a reader checks the file, finds the text field and reads the first record, so that most mistakes show at once.
    """

    format: ClassVar[str]
    has_fields: ClassVar[bool] = True
    has_header: ClassVar[bool] = False

    def __init__(self, path: Path, reading: Reading, *, gz: bool = False):
        self.path, self.gz, self.reading = path, gz, reading
        self.text_field, self.max_line_bytes = reading.text_field, reading.max_line_bytes
        self._has_missing = False
        self._check_reading()
        for file in self.paths:
            check_readable(file)
        self._open()
        if next(iter(self), None) is None:
            raise BadInput("holds no records", where=path)

    def _check_reading(self) -> None:
        if self.reading.header is not None and not self.has_header:
            raise BadInput(f"a {self.format} file has no header line; only csv and tsv have one", where=self.path)
        if self.has_fields:
            return
        if self.text_field is not None:
            raise BadInput(f"a {self.format} file has no fields, so a text field cannot be chosen", where=self.path)
        if self.reading.fields or self.reading.columns:
            name = (*self.reading.fields, *(self.reading.columns or ()))[0]
            raise BadInput(f"a {self.format} file has no fields", where=self.path, field=name)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are read: one, or two that run in parallel."""
        return (self.path,)

    @property
    def sources(self) -> tuple[Path, ...]:
        """The same files by their absolute names, links followed."""
        return tuple(path.resolve() for path in self.paths)

    def binding(self) -> dict[str, Any]:
        """What makes two readings of a file the same reading, as JSON values: a run that is taken up compares it."""
        reading = self.reading
        return {
            "sources": [str(path) for path in self.sources],
            "format": self.format,
            "text_field": self.text_field,
            "columns": None if reading.columns is None else list(reading.columns),
            "header": reading.header,
            "nulls": reading.nulls,
        }

    @property
    def passes(self) -> tuple[str, ...]:
        """What a writer copies beside the text, unprotected, in words for a card. Complete after one whole pass."""
        names = self._passing()
        if len(names) > _MOST_PASSING:
            names = [*names[:_MOST_PASSING], f"{len(names) - _MOST_PASSING} further columns"]
        return (*names, *([MISSING] if self._has_missing else []))

    def _passing(self) -> list[str]:
        """The columns, marks and metadata that are copied."""
        return []

    @property
    def written_text_field(self) -> str | None:
        """The field that holds the text in what a writer makes of these records."""
        return self.text_field

    @property
    def size(self) -> int:
        """Bytes on disk, what `bytes_read` runs up to."""
        return sum(file.stat().st_size for file in self.paths)

    @property
    @abstractmethod
    def lines_read(self) -> int:
        """Lines (of parquet: rows) that the running pass has read."""

    @property
    def record_line(self) -> int:
        """The line where the last record stands, for messages."""
        return self.lines_read

    @property
    @abstractmethod
    def bytes_read(self) -> int:
        """Bytes on disk that the running pass has read."""

    @property
    def head(self) -> tuple[str, ...]:
        """What stands before the first record, in each of the files."""
        return ("",) * len(self.paths)

    @abstractmethod
    def __iter__(self) -> Iterator[Record]: ...

    @abstractmethod
    def _open(self) -> None:
        """Get ready for the first pass."""

    def _note_missing(self, line: int) -> None:
        """A text that is null: kept as null, or refused."""
        if self.reading.nulls == "refuse":
            raise BadInput("is null, not a string", where=self.path, line=line, field=self.text_field)
        self._has_missing = True


class LineReader(Reader):
    """A format made of lines, in one file."""

    _header = ""  # the lines before the first record

    @property
    def head(self) -> tuple[str, ...]:
        return (self._lines.start + self._header,)

    def _open(self) -> None:
        self._lines = Lines(self.path, gz=self.gz, max_line_bytes=self.max_line_bytes)

    @property
    def lines_read(self) -> int:
        return self._lines.number

    @property
    def bytes_read(self) -> int:
        return self._lines.bytes_read

    @abstractmethod
    def render(self, record: Record) -> tuple[str, ...]:
        """The record as it stands in its file (in each of its files), line end included."""

    def bad_text(self, what: str) -> BadInput:
        """An error of a new text that does not fit its row."""
        return BadInput(f"a new text {what}, so it cannot be written as {self.format}", where=self.path)


def columns(n: int) -> str:
    """`n` columns, in words.

    >>> columns(1), columns(3)
    ('1 column', '3 columns')
    """
    return "1 column" if n == 1 else f"{n} columns"
