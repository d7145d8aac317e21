"""Compressed files: gzip, bzip2 and xz, told apart by the ending of a name.

Files of each of these kinds can be put one after the other and are one file again, so parts are packed by themselves.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

_BUFFER = 2**20


@dataclass(frozen=True)
class Packing:
    """One way to compress: how a stream is read and written, and how some bytes are packed at once."""

    name: str
    title: str
    reader: Callable[[BinaryIO], io.RawIOBase]
    writer: Callable[[BinaryIO], io.RawIOBase]
    pack: Callable[[bytes], bytes]

    def unpacked(self, stream: BinaryIO) -> BinaryIO:
        """What the stream holds."""
        return io.BufferedReader(self.reader(stream), _BUFFER)  # type: ignore[return-value]

    def packed(self, stream: BinaryIO) -> BinaryIO:
        """A stream whose bytes go into this one, compressed; without name and time, so that equal data gives equal bytes."""
        return io.BufferedWriter(self.writer(stream), _BUFFER)  # type: ignore[return-value]


DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)  # what a cut or damaged file raises; bzip2: OSError

PACKINGS = {
    packing.name: packing
    for packing in (
        Packing(
            "gz",
            "gzip",
            lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),  # type: ignore[arg-type,return-value]
            lambda stream: gzip.GzipFile("", "wb", 6, stream, 0),  # type: ignore[arg-type,return-value]
            lambda data: gzip.compress(data, mtime=0),
        ),
        Packing(
            "bz2",
            "bzip2",
            lambda stream: bz2.BZ2File(stream, "rb"),  # type: ignore[arg-type,return-value]
            lambda stream: bz2.BZ2File(stream, "wb"),  # type: ignore[arg-type,return-value]
            bz2.compress,
        ),
        Packing(
            "xz",
            "xz",
            lambda stream: lzma.LZMAFile(stream, "rb"),  # type: ignore[arg-type,return-value]  # noqa: SIM115
            lambda stream: lzma.LZMAFile(stream, "wb"),  # type: ignore[arg-type,return-value]  # noqa: SIM115
            lzma.compress,
        ),
    )
}


def cut_packing(name: str) -> tuple[str, str]:
    """A file's name without the ending that says how it is compressed, and that ending's name.

    >>> cut_packing("letters.csv.bz2"), cut_packing("letters.csv")
    (('letters.csv', 'bz2'), ('letters.csv', ''))
    """
    stem, dot, ending = name.rpartition(".")
    return (stem, ending.lower()) if dot and ending.lower() in PACKINGS else (name, "")


def packing_of(name: str) -> str:
    """How the file of this name is compressed: gz, bz2, xz, or not at all ("")."""
    return cut_packing(name)[1]
