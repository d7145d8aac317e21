"""Open a file for reading: checked beforehand, unpacked on the way, with a sentence for whatever goes wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from textveil.core.errors import BadInput
from textveil.text.formats.packing import DAMAGED, PACKINGS

_BUFFER = 2**20


def check_readable(path: Path) -> None:
    """Raise a `BadInput` for what is not a file with something in it."""
    try:
        if path.is_dir():
            raise BadInput("is a folder, not a file", where=path)
        if not path.exists():
            raise BadInput("does not exist", where=path)
        if not path.is_file():
            what = "is not a regular file (it is read more than once, so it cannot be a pipe)"
            raise BadInput(what, where=path, possible="- for what is piped into the command")
        if path.stat().st_size == 0:
            raise BadInput("is empty", where=path)
        path.open("rb").close()
    except OSError as error:
        raise BadInput(f"cannot be read: {reason(error)}", where=path) from None


READ_ERRORS = (*DAMAGED, OSError)


def open_raw(path: Path, packing: str) -> BinaryIO:
    """The file as it lies on the disk: it knows how far it was read."""
    return path.open("rb", buffering=0 if packing else _BUFFER)  # type: ignore[return-value]


def unpacked(file: BinaryIO, packing: str) -> BinaryIO:
    """What the file holds."""
    return PACKINGS[packing].unpacked(file) if packing else file


def not_read(error: BaseException, path: Path, packing: str) -> BadInput:
    """The sentence for one of READ_ERRORS."""
    if isinstance(error, OSError) and not isinstance(error, DAMAGED) and not (packing and error.errno is None):
        return BadInput(f"cannot be read: {reason(error)}", where=path)
    return BadInput(f"is not a complete {PACKINGS[packing].title} file: it is cut off or damaged", where=path)


def reason(error: OSError) -> str:
    """The operating system's words for what went wrong, without paths."""
    return os.strerror(error.errno).lower() if error.errno else "input/output error"
