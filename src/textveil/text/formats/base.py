"""What every format offers: records to go through, facts for a progress bar, and the way back into bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.encodings import CP1252, UTF8
from textveil.text.formats.lines import DEFAULT_MAX_LINE, Lines, check_readable
from textveil.text.formats.piped import STDIN, is_piped
from textveil.text.formats.sample import FileSample

MISSING = "which texts are missing (null)"
ENCODING = "that the file is not UTF-8 (it is taken and written as cp1252; --encoding cp1252 says so beforehand)"
_MOST_PASSING = 100  # names in `passes`; objects with made-up keys could have a million


@dataclass(frozen=True)
class Reading:
    """What is wanted of a file (see `open_reader`)."""

    text_field: str | None = None
    fields: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    nulls: str = "keep"
    delimiter: str | None = None
    encoding: str | None = None
    quotes: str | None = None
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
    has_delimiter: ClassVar[bool] = False
    is_old_style: ClassVar[bool] = False  # written by programs that have never heard of UTF-8

    def __init__(self, path: Path, reading: Reading, *, packing: str = ""):
        self.path, self.packing, self.reading = path, packing, reading
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
        for name, asked in (("delimiter", self.reading.delimiter), ("quotes", self.reading.quotes)):
            if asked is not None and not self.has_delimiter:
                raise BadInput(f"only csv and tsv have --{name}, not {self.format}", where=self.path)
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
            "sources": [STDIN] if is_piped(self.path) else [str(path) for path in self.sources],
            "format": self.format,
            "text_field": self.text_field,
            "columns": None if reading.columns is None else list(reading.columns),
            "header": reading.header,
            "nulls": reading.nulls,
            "dialect": self.dialect(),
        }

    def dialect(self) -> dict[str, str]:
        """How the file was read, by the names of options: facts of its form that its copy shows too."""
        return {"format": f"{self.format}.{self.packing}" if self.packing else self.format}

    @property
    def read_as(self) -> str:
        """What was taken beyond the usual, in words: "csv, delimiter ';', encoding cp1252"; "" where all is usual."""
        named = self._peculiarities()
        return ", ".join([self.format, *named]) if named else ""

    def _peculiarities(self) -> list[str]:
        return []

    def check_words(self, words: str) -> None:
        """Refuse a file that cannot hold these words (any string made of them), before anything is drawn."""
        return

    @property
    def passes(self) -> tuple[str, ...]:
        """What a writer copies beside the text, unprotected, in words for a card. Complete after one whole pass."""
        names = self._passing()
        if len(names) > _MOST_PASSING:
            names = [*names[:_MOST_PASSING], f"{len(names) - _MOST_PASSING} further columns"]
        return (*names, *self._passing_facts(), *([MISSING] if self._has_missing else []))

    def _passing(self) -> list[str]:
        """The columns, marks and metadata that are copied."""
        return []

    def _passing_facts(self) -> list[str]:
        """What the form of the copy tells of the texts."""
        return []

    def state(self) -> list[list[int]]:
        """Sizes and times, to notice a changed input. What was piped in is nobody else's to change, and new in each run."""
        status = [path.stat() for path in self.paths]
        return [[s.st_size, 0 if is_piped(self.path) else s.st_mtime_ns] for s in status]

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
    ends_lines: ClassVar[bool] = True  # whether each record ends with a line end

    @property
    def head(self) -> tuple[str, ...]:
        return (self._lines.start + self._header,)

    def _open(self) -> None:
        self._lines = self._lines_of(self._sample_of(self.path, self.packing))

    def _sample_of(self, path: Path, packing: str) -> FileSample:
        return FileSample(path, packing, asked_encoding=self.reading.encoding, is_old_style=self.is_old_style)

    def _lines_of(self, sample: FileSample) -> Lines:
        """The lines of a file, in the encoding and with the line ends that its beginning shows."""
        return Lines(
            sample.path,
            packing=sample.packing,
            encoding=sample.encoding,
            line_end=sample.line_end(quoted=self._has_quotes()),
            max_line_bytes=self.max_line_bytes,
        )

    def _has_quotes(self) -> bool:
        """Whether line ends may stand inside of quotes."""
        return False

    @property
    def all_lines(self) -> tuple[Lines, ...]:
        """The lines of each of its files."""
        return (self._lines,)

    def dialect(self) -> dict[str, str]:
        return {**super().dialect(), "encoding": self._lines.encoding}

    def _peculiarities(self) -> list[str]:
        encodings = dict.fromkeys(lines.encoding for lines in self.all_lines)
        named = [] if list(encodings) == [UTF8] else [f"encoding {' and '.join(encodings)}"]
        return [*named, *(["line ends CR"] if any(lines.line_end == "\r" for lines in self.all_lines) else [])]

    def _passing_facts(self) -> list[str]:
        guessed = self.reading.encoding is None and any(lines.encoding == CP1252 for lines in self.all_lines)
        return [ENCODING] if guessed else []

    def check_words(self, words: str) -> None:
        for lines in self.all_lines:
            try:
                words.encode(lines.encoding)
            except UnicodeEncodeError as error:
                raise BadInput(
                    f"is {lines.encoding}, which cannot write every word of the vocabulary (first: {words[error.start]!r})",
                    where=lines.path,
                    possible="the file as UTF-8, or --vectors whose words it can write",
                ) from None

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
