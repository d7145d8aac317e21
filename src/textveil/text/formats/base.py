"""What every format offers: records to go through, facts for a progress bar, and the way back into bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.lines import DEFAULT_MAX_LINE, Lines, check_readable

_MOST_NAMES = 30  # that a message lists


class Reader(ABC):
    """The records of a file. Going through it a second time reads the file again.

    Making a reader checks the file, finds the text field and reads the first record, so that most mistakes show at once.
    """

    format: ClassVar[str]
    has_fields: ClassVar[bool] = True

    def __init__(
        self,
        path: Path,
        *,
        gz: bool = False,
        text_field: str | None = None,
        max_line_bytes: int = DEFAULT_MAX_LINE,
    ):
        if text_field is not None and not self.has_fields:
            raise BadInput(f"a {self.format} file has no fields, so a text field cannot be chosen", where=path)
        self.path, self.gz, self.text_field, self.max_line_bytes = path, gz, text_field, max_line_bytes
        for file in self.paths:
            check_readable(file)
        self._open()
        if next(iter(self), None) is None:
            raise BadInput("holds no records", where=path)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are read: one, or two that run in parallel."""
        return (self.path,)

    @property
    def size(self) -> int:
        """Bytes on disk, what `bytes_read` runs up to."""
        return sum(file.stat().st_size for file in self.paths)

    @property
    @abstractmethod
    def lines_read(self) -> int:
        """Lines (of parquet: rows) that the running pass has read."""

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


def choose_field(fields: dict[str, bool], *, asked: str | None, path: Path) -> str:
    """The field that holds the text: the one asked for, `text`, or the only one of strings (`fields` says which are).

    >>> choose_field({"id": False, "body": True}, asked=None, path=Path("notes.jsonl"))
    'body'
    """
    names = ", ".join([*fields][:_MOST_NAMES]) + (" ..." if len(fields) > _MOST_NAMES else "")
    if asked is not None:
        if asked not in fields:
            raise BadInput("there is no such field", where=path, field=asked, possible=names)
        return asked
    if "text" in fields:
        return "text"
    candidates = [name for name, is_string in fields.items() if is_string]
    if len(candidates) == 1:
        return candidates[0]
    raise BadInput("which field holds the text must be said (--text-field)", where=path, possible=names)
