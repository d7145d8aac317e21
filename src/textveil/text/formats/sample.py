"""The beginning of a file, looked at before it is read: is it text at all, in which encoding, with which line ends."""

from __future__ import annotations

import re
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.text.formats.encodings import MARK, found_encoding, known_encoding, marked_encoding, width_of
from textveil.text.formats.lines import Lines
from textveil.text.formats.opening import READ_ERRORS, not_read, open_raw, unpacked
from textveil.text.formats.packing import packing_of

SAMPLE_BYTES = 2**20
_OFFICE = "an Excel or other Office file"
_MAGIC = {  # how files begin that are no text: what they are, and what to do
    b"PK\x03\x04": (f"{_OFFICE} or a zip archive", "save it as CSV UTF-8 first, or unpack it"),
    b"\xd0\xcf\x11\xe0": (_OFFICE, "save it as CSV UTF-8 first"),
    b"%PDF": ("a PDF", "its text as a txt file"),
    b"PAR1": ("a parquet file", "--format parquet"),
    b"ARROW1": ("an arrow file", "write it as parquet"),
    b"\x1f\x8b": ("compressed by gzip", "a name in .gz, or --format with it, e.g. csv.gz"),
    b"BZh": ("compressed by bzip2", "a name in .bz2, or --format with it, e.g. csv.bz2"),
    b"\xfd7zXZ\x00": ("compressed by xz", "a name in .xz, or --format with it, e.g. csv.xz"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it first"),
}
_QUOTED = re.compile(r'"[^"]*+(?:"|\Z)')


class FileSample:
    """The first MiB of a file, unpacked; what it tells is asked for once, when a reader opens."""

    def __init__(self, path: Path, packing: str, *, asked_encoding: str | None, is_old_style: bool):
        self.path, self.packing = path, packing
        try:
            with open_raw(path, packing) as file:
                data = unpacked(file, packing).read(SAMPLE_BYTES)
        except READ_ERRORS as error:
            raise not_read(error, path, packing) from None
        self.is_whole = len(data) < SAMPLE_BYTES
        _check_is_text(data, path)
        if asked_encoding is None:
            self.encoding = found_encoding(data, path, is_old_style=is_old_style, is_whole=self.is_whole)
        else:
            self.encoding = known_encoding(asked_encoding, data, path)
        self.has_mark = marked_encoding(data) == self.encoding
        self._data = data

    def text(self) -> str:
        """The sample decoded, without its byte order mark; what cannot be decoded is left to the reader's own errors."""
        return self._data.decode(self.encoding, errors="replace").removeprefix(MARK)

    def line_end(self, *, quoted: bool) -> str:
        """What ends its lines: the line feed (alone, or after a carriage return), or where there is none the carriage return.

        Inside quotes (`quoted`: the format has them) neither ends a line.
        """
        if width_of(self.encoding) == 1 and not quoted:
            return "\r" if b"\n" not in self._data and b"\r" in self._data else "\n"
        text = self.text()
        if quoted and (text.count('"') % 2 == 0 or not self.is_whole):
            text = _QUOTED.sub("", text)
        return "\r" if "\n" not in text and "\r" in text else "\n"


def open_lines(path: Path, packing: str | None = None, *, encoding: str | None = None) -> Lines:
    """The lines of a file beside the texts, in its own encoding and with its own line ends."""
    packing = packing_of(path.name) if packing is None else packing
    sample = FileSample(path, packing, asked_encoding=encoding, is_old_style=False)
    return Lines(path, packing=packing, encoding=sample.encoding, line_end=sample.line_end(quoted=False))


def _check_is_text(data: bytes, path: Path) -> None:
    for magic, (what, possible) in _MAGIC.items():
        if data.startswith(magic):
            raise BadInput(f"is {what}, not text", where=path, possible=possible)
