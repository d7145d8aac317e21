"""A file that is there completely or not at all.

It grows under a hidden name in the same folder, readable by its owner only, and takes its real name when it is complete
and on the disk. Whatever goes wrong before that removes it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from textveil.core.errors import BadInput
from textveil.text.formats.opening import reason
from textveil.text.formats.packing import PACKINGS

_BUFFER = 2**20


class AtomicFile:
    """Bytes for `path`, compressed as `packing` says. A context manager: leaving it cleanly puts the file in place.

    `private`: only its owner can read the finished file.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with AtomicFile(folder / "a.txt") as out:
    ...     out.write(b"tea")
    ...     (folder / "a.txt").exists()
    False
    >>> (folder / "a.txt").read_bytes()
    b'tea'
    """

    def __init__(self, path: str | Path, *, packing: str = "", private: bool = False):
        self.path, self._mode = Path(path), 0o600 if private else 0o666 & ~_umask()
        if self.path.is_dir():
            raise BadInput("is a folder, not a file", where=self.path)
        try:
            handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", suffix=".part", dir=self.path.parent)
        except OSError as error:
            raise self.failed(error) from None
        self._temporary = Path(name)
        self._file = os.fdopen(handle, "wb", buffering=_BUFFER)
        self.stream: BinaryIO = PACKINGS[packing].packed(self._file) if packing else self._file

    def write(self, data: bytes) -> None:
        try:
            self.stream.write(data)
        except OSError as error:
            raise self.failed(error) from None

    def finish(self) -> None:
        """Bring all bytes to the disk; a full disk shows here at the latest."""
        try:
            if self.stream is not self._file:
                self.stream.close()
            self._file.flush()
            os.fchmod(self._file.fileno(), self._mode)
            os.fsync(self._file.fileno())
            self._file.close()
        except OSError as error:
            self.discard()
            raise self.failed(error) from None

    def place(self) -> None:
        """Give the finished file its name."""
        try:
            os.replace(self._temporary, self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            self.discard()
            raise self.failed(error) from None

    def divert(self) -> None:
        """Send whatever is still written into nothing: buffers can then be closed, even on a full disk."""
        if not self._file.closed:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self._file.fileno())
            os.close(nothing)

    def discard(self) -> None:
        """Leave nothing behind. May be called at any time; a file that is already in place stays."""
        self.divert()
        self.stream.close()
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def failed(self, error: OSError) -> BadInput:
        return BadInput(f"cannot be written: {reason(error)}", where=self.path)

    def __enter__(self) -> AtomicFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
            self.place()
        else:
            self.discard()


def _umask() -> int:
    """The process's mask can only be read by setting it; for that moment it is the strict one."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
