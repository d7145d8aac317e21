"""Lines of a file, one at a time, none of them longer than allowed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from textveil.core.errors import BadInput
from textveil.text.formats.encodings import MARK, SAY_ENCODING, UTF8, width_of
from textveil.text.formats.opening import READ_ERRORS, check_readable, not_read, open_raw, reason, unpacked
from textveil.text.formats.packing import packing_of

__all__ = ["DEFAULT_MAX_LINE", "Lines", "check_readable", "cut_end", "reason"]

DEFAULT_MAX_LINE = 16 * 2**20
"""The longest allowed line in bytes, 16 MiB: a few million words, and small enough to keep memory flat."""

_CHUNK = 2**20


class Lines:
    """The lines of one file, each with its line end. Keeps count, so that errors can say where and progress how far.

    `start` is the byte order mark, if the file has one: it belongs to the file, not to the first line. `packing` is how the
    file is compressed (gz, bz2, xz, or "" for not at all); None: as its name tells.
    """

    def __init__(
        self,
        path: Path,
        *,
        packing: str | None = None,
        encoding: str = UTF8,
        line_end: str = "\n",
        max_line_bytes: int = DEFAULT_MAX_LINE,
    ):
        self.path, self.number, self.start = path, 0, ""
        self.encoding, self.line_end = encoding, line_end
        self._max = max_line_bytes
        self._packing = packing_of(path.name) if packing is None else packing
        self._raw: BinaryIO | None = None
        self._end = 0

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the disk (compressed ones, of a compressed file)."""
        return self._raw.tell() if self._raw is not None else self._end

    def __iter__(self) -> Generator[str]:
        self.number = 0
        with open_raw(self.path, self._packing) as self._raw:
            try:
                yield from self._decoded(unpacked(self._raw, self._packing))
            except READ_ERRORS as error:
                raise not_read(error, self.path, self._packing) from None
            finally:
                self._end, self._raw = self._end if self._raw.closed else self._raw.tell(), None

    def bad(self, what: str, *, field: str | None = None, possible: str | None = None) -> BadInput:
        """An error at the current line."""
        return BadInput(what, where=self.path, line=self.number, field=field, possible=possible)

    def _decoded(self, stream: BinaryIO) -> Iterator[str]:
        encoding, most, is_utf8 = self.encoding, self._max + 1, self.encoding == UTF8
        for raw in self._cut(stream, most):  # a giant line is cut there, before it fills the memory
            self.number += 1
            if len(raw) >= most:
                raise self.bad(f"is longer than {self._max / 2**20:g} MiB, the longest allowed line (--max-line-mb)")
            try:
                line = raw.decode(encoding)
            except UnicodeDecodeError:
                raise self.bad(f"is not {encoding.upper()}", possible=SAY_ENCODING) from None
            if not is_utf8 and line.encode(encoding, errors="replace") != raw:
                raise self.bad(f"has bytes that {encoding} cannot write back the same", possible=SAY_ENCODING)
            if self.number == 1 and line.startswith(MARK):
                self.start, line = MARK, line[1:]
                if not line:
                    return
            yield line

    def _cut(self, stream: BinaryIO, most: int) -> Iterator[bytes]:
        width = width_of(self.encoding)
        if self.line_end == "\n" and width == 1:
            return iter(partial(stream.readline, most), b"")
        return cut_lines(stream, self.line_end.encode(self.encoding), width, most)


def cut_lines(stream: BinaryIO, end: bytes, width: int, most: int) -> Iterator[bytes]:
    r"""Lines that end with `end`, whose bytes must stand at a multiple of `width`; one of `most` bytes or more is cut.

    >>> import io
    >>> list(cut_lines(io.BytesIO("Ċ\na".encode("utf-16-le")), b"\n\0", 2, 99))
    [b'\n\x01\n\x00', b'a\x00']
    """
    rest = b""
    while chunk := stream.read(_CHUNK):
        rest += chunk
        begin = at = 0
        while (at := rest.find(end, at)) >= 0:
            if at % width:
                at += 1
                continue
            yield rest[begin : at + width]
            begin = at = at + width
        rest = rest[begin:]
        if len(rest) >= most:
            yield rest[:most]
            return
    if rest:
        yield rest


def cut_end(line: str) -> tuple[str, str]:
    r"""A line and its line end.

    >>> cut_end("a\r\n"), cut_end("b\n"), cut_end("c"), cut_end("d\r")
    (('a', '\r\n'), ('b', '\n'), ('c', ''), ('d', '\r'))
    """
    if line.endswith("\r\n"):
        return line[:-2], "\r\n"
    if line.endswith("\n"):
        return line[:-1], "\n"
    return (line[:-1], "\r") if line.endswith("\r") else (line, "")
