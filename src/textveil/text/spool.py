"""What is piped in, as a file: it is read more than once, so it is kept for as long as the command runs.

The file has no name of its own on Linux: it is gone when the process ends, however it ends. What has a name is a link to
it, in a folder for its owner only. Elsewhere it is a file of mode 600 that is removed at the end.

A run that is taken up compares what it reads with what was charged (by the ledger's keyed fingerprint), not where it came
from: the same command with the same text piped in goes on where it was stopped.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from textveil.core.errors import BadInput
from textveil.text.formats.opening import reason
from textveil.text.formats.piped import FILE, FOLDER
from textveil.text.readers import FORMATS, format_of

_OPEN: list[BinaryIO] = []  # files without a name live as long as they are open


def spool(stream: BinaryIO, format: str | None) -> Path:
    """A path under which all that the stream holds can be read, again and again, until this process ends."""
    if format is None:
        what = "what is piped in has no name, so its format must be said"
        raise BadInput(what, where="standard input", possible=f"--format {', '.join(FORMATS)}")
    name, packing = format_of(Path(FILE), format)
    if stream.isatty():
        raise BadInput(
            "is a terminal", where="standard input", possible="textveil veil - ... < FILE, or COMMAND | textveil"
        )
    folder = Path(tempfile.mkdtemp(prefix=FOLDER))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / (f"{FILE}.{'parallel.tsv' if name == 'parallel' else name}" + (f".{packing}" if packing else ""))
    try:
        _keep(stream, path)
    except OSError as error:
        raise BadInput(f"cannot be kept while it is read: {reason(error)}", where="standard input") from None
    return path


def _keep(stream: BinaryIO, path: Path) -> None:
    has_descriptors = Path(f"/proc/{os.getpid()}/fd").is_dir()
    file: BinaryIO = tempfile.TemporaryFile() if has_descriptors else _private(path)  # type: ignore[assignment] # noqa: SIM115
    shutil.copyfileobj(stream, file, 2**20)
    file.flush()
    if has_descriptors:
        _OPEN.append(file)
        path.symlink_to(f"/proc/{os.getpid()}/fd/{file.fileno()}")
    else:
        file.close()


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


__all__ = ["spool"]
