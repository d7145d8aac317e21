"""Files that are there completely or not at all, and folders of which only their owner can read anything."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

from .errors import BadInput

_MARK = ".tmp"


def readable_name(name: str) -> str:
    """A file's name as text that can be written anywhere: where the system has no UTF-8, Python hands on raw bytes in it.

    >>> readable_name("led\\udcc3\\udca9r.l"), readable_name("ledger")
    ('led\u00e9r.l', 'ledger')
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return name


def write_whole(path: Path, content: str | bytes, *, mode: int | None = None) -> None:
    """Write a file in one step, on disk when this returns; whoever reads it sees the old content or the new.

    >>> import tempfile
    >>> note = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_whole(note, "tea", mode=0o600)
    >>> note.read_text(), oct(note.stat().st_mode & 0o777), [p.name for p in note.parent.iterdir()]
    ('tea', '0o600', ['note.txt'])
    """
    raw = content.encode("utf-8") if isinstance(content, str) else content
    hidden = path.with_name(f".{path.name}{_MARK}")
    handle = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(hidden, path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were just given in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner can enter, or close one that stands open; never what a link leads to."""
    if folder.is_symlink():
        raise BadInput("is a link, and what lies behind it may be anybody's", where=folder, possible="remove it")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise BadInput("belongs to another user, who could read what is put there", where=folder, possible="remove it")
    folder.chmod(0o700)
    return folder


def lock_folder(folder: Path) -> int:
    """Hold a folder alone, made if it is missing: an open handle, whose closing (or whose process's end) frees it.

    The lock is on the folder itself, so nothing has to be cleaned up after kill -9; the name must still lead to the
    folder that is held, since its last owner may have removed or renamed it.
    """
    while True:
        private_folder(folder)
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # its owner has just removed it
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(folder)):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(handle)
            raise BadInput(
                "another process is at work on it", where=folder, possible="wait for it, or choose another output"
            ) from None
        os.close(handle)


def empty_folder(folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Remove everything in a folder but the names to keep."""
    for path in folder.iterdir():
        if path.name in keep:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
