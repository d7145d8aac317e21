"""Lines of a plain or gzipped UTF-8 file, one at a time, none of them longer than allowed."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from textveil.core.errors import BadInput

DEFAULT_MAX_LINE = 16 * 2**20
"""The longest allowed line in bytes, 16 MiB: a few million words, and small enough to keep memory flat."""

_BUFFER = 2**20
_BOM = "\ufeff"


def check_readable(path: Path) -> None:
    """Raise a `BadInput` for what is not a file with something in it."""
    try:
        if path.is_dir():
            raise BadInput("is a folder, not a file", where=path)
        if not path.exists():
            raise BadInput("does not exist", where=path)
        if not path.is_file():
            raise BadInput("is not a regular file (it is read more than once, so it cannot be a pipe)", where=path)
        if path.stat().st_size == 0:
            raise BadInput("is empty", where=path)
        path.open("rb").close()
    except OSError as error:
        raise BadInput(f"cannot be read: {reason(error)}", where=path) from None


def reason(error: OSError) -> str:
    """The operating system's words for what went wrong, without paths."""
    return os.strerror(error.errno).lower() if error.errno else "input/output error"


class Lines:
    """The lines of one file, each with its line end. Keeps count, so that errors can say where and progress how far.

    `start` is the byte order mark, if the file has one: it belongs to the file, not to the first line.
    """

    def __init__(self, path: Path, *, gz: bool, max_line_bytes: int = DEFAULT_MAX_LINE):
        self.path, self.number, self.start = path, 0, ""
        self._max = max_line_bytes
        self._gz = gz
        self._raw: BinaryIO | None = None
        self._end = 0

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the disk (compressed ones, of a gzipped file)."""
        return self._raw.tell() if self._raw is not None else self._end

    def __iter__(self) -> Iterator[str]:
        self.number = 0
        with self.path.open("rb", buffering=0 if self._gz else _BUFFER) as self._raw:
            try:
                yield from self._decoded(_gunzip(self._raw) if self._gz else self._raw)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                raise BadInput("is not a complete gzip file: it is cut off or damaged", where=self.path) from None
            except OSError as error:
                raise BadInput(f"cannot be read: {reason(error)}", where=self.path) from None
            finally:
                self._end, self._raw = self._raw.tell(), None

    def bad(self, what: str, *, field: str | None = None) -> BadInput:
        """An error at the current line."""
        return BadInput(what, where=self.path, line=self.number, field=field)

    def _decoded(self, stream: BinaryIO) -> Iterator[str]:
        most = self._max + 1
        while raw := stream.readline(most):  # a giant line is cut here, before it fills the memory
            self.number += 1
            if len(raw) == most:
                raise self.bad(f"is longer than {self._max / 2**20:g} MiB, the longest allowed line (--max-line-mb)")
            try:
                line = raw.decode()
            except UnicodeDecodeError:
                raise self.bad("is not UTF-8") from None
            if self.number == 1 and line.startswith(_BOM):
                self.start, line = _BOM, line[1:]
                if not line:
                    return
            yield line


def _gunzip(raw: BinaryIO) -> BinaryIO:
    return io.BufferedReader(gzip.GzipFile(fileobj=raw, mode="rb"), _BUFFER)  # type: ignore[return-value,arg-type]


def cut_end(line: str) -> tuple[str, str]:
    r"""A line and its line end.

    >>> cut_end("a\r\n"), cut_end("b\n"), cut_end("c")
    (('a', '\r\n'), ('b', '\n'), ('c', ''))
    """
    if line.endswith("\r\n"):
        return line[:-2], "\r\n"
    if line.endswith("\n"):
        return line[:-1], "\n"
    return line, ""
