"""The ledger's SQLite file: made in one step, written one whole transaction at a time, on disk before anyone goes on.

- One connection per operation, so that a Ledger may be forked, pickled and used from threads.
- A writer takes the lock before it reads (BEGIN IMMEDIATE): what it decides on cannot change before it has written.
- Rollback journal with synchronous=EXTRA: after COMMIT returns, the line survives kill -9 and a power cut. (With FULL, the
  unlinking of the journal may not have reached the disk, and a power cut would roll the line back.)
- A new file is built under a hidden name and linked to its own: nobody ever sees half a ledger, and an existing one is
  never overwritten. An empty file is therefore no ledger.
- Nothing here opens the file except through SQLite: closing a second descriptor would drop this process's locks.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from textveil.core.errors import BadInput
from textveil.core.files import sync_folder

from .chain import Head, Line

APPLICATION = 0x54564C47  # "TVLG", in the header of the file
FORMAT = 1
PATIENCE = 300.0  # seconds to wait for other writers

Row = tuple[Any, ...]
_SCHEMA = """
CREATE TABLE lines (number INTEGER PRIMARY KEY, created TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
                    note TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""


class Transaction:
    """What can be read and written while the file is held."""

    def __init__(self, db: sqlite3.Connection):
        self._db = db

    def rows(self) -> list[Row]:
        """All lines as they stand in the file."""
        columns = "number, created, kind, body, note, previous, hash"
        return self._db.execute(f"SELECT {columns} FROM lines ORDER BY number").fetchall()

    def lines(self) -> list[Line]:
        return [Line(*row) for row in self.rows()]

    def head(self) -> Head:
        row = self._db.execute("SELECT value FROM meta WHERE name = 'head'").fetchone()
        try:
            return Head.parse(row[0])
        except (TypeError, BadInput):  # removed or spoilt: agrees with no line, so the check finds it
            return Head()

    def key(self) -> bytes:
        row = self._db.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
        return row[0] if row and isinstance(row[0], bytes) else b""

    def keep_key(self, key: bytes) -> None:
        self._db.execute("INSERT INTO meta VALUES ('key', ?)", (key,))

    def append(self, line: Line) -> None:
        self._db.execute(
            "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)",
            (line.number, line.created, line.kind, line.body, line.note, line.previous, line.hash),
        )
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('head', ?)", (str(Head(line.number, line.hash)),))


def create(path: Path, fill: Callable[[Transaction], None]) -> None:
    """Make a ledger whose first lines `fill` writes; FileExistsError if there is one by now."""
    hidden = _unfinished(path)
    held = -1
    try:
        held = _hold_new(hidden, path)
        with _errors(path), closing(_connect(hidden)) as db:
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
            db.executescript(_SCHEMA)
            with _transaction(db, "BEGIN IMMEDIATE"):
                fill(Transaction(db))
        os.link(hidden, path)
        sync_folder(path.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise BadInput(f"cannot be made ({error.strerror or 'system error'})", where=path) from None
    finally:
        if held >= 0:
            _remove(hidden)
            os.close(held)


def tidy(path: Path) -> None:
    """Remove what a process left that was killed while it made this ledger."""
    hidden = _unfinished(path)
    with suppress(OSError):
        handle = os.open(hidden, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_named(hidden, handle):
                _remove(hidden)
        finally:
            os.close(handle)


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _hold_new(hidden: Path, path: Path) -> int:
    """A new, empty file that only this process fills. What a dead process left is removed, never written to: after a kill
    it may be another name of a ledger in use."""
    while True:
        try:
            handle = os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            with suppress(FileNotFoundError):
                handle = os.open(hidden, os.O_RDWR)
                fcntl.flock(handle, fcntl.LOCK_EX)  # its maker has finished, or is dead
                if _is_named(hidden, handle):
                    _remove(hidden)
                os.close(handle)
            if path.exists():
                raise FileExistsError(str(path)) from None
            continue
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _is_named(hidden, handle):
            return handle
        os.close(handle)


def _is_named(path: Path, handle: int) -> bool:
    """Whether a name still leads to the file that is held."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _remove(hidden: Path) -> None:
    for leftover in (hidden, Path(f"{hidden}-journal")):
        with suppress(OSError):
            leftover.unlink()


@contextmanager
def reading(path: Path) -> Iterator[Transaction]:
    """A consistent view of the file."""
    with _opened(path) as db, _transaction(db, "BEGIN"):
        yield Transaction(db)


@contextmanager
def writing(path: Path) -> Iterator[Transaction]:
    """Hold the file alone; on disk when the block has ended, untouched if it raised."""
    with _opened(path) as db, _transaction(db, "BEGIN IMMEDIATE"):
        yield Transaction(db)


def check_is_ledger(path: Path) -> None:
    """One sentence when a path cannot be opened as a ledger."""
    with _opened(path):
        return


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if path.is_dir():
        raise BadInput("is a folder, not a ledger", where=path)
    if not path.exists():
        raise BadInput("there is no such ledger", where=path, possible=f"textveil ledger new {path}")
    with _errors(path), closing(_connect(path)) as db:
        if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise BadInput("is not a ledger", where=path)
        written = db.execute("PRAGMA user_version").fetchone()[0]
        if written > FORMAT:
            raise BadInput(
                f"was written by a newer version (ledger format {written}; this one reads up to {FORMAT})", where=path
            )
        yield db


def _connect(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode=rw"  # bytes: names need not be UTF-8
    db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=PATIENCE)
    try:
        db.execute("PRAGMA synchronous = EXTRA")
        db.execute("PRAGMA trusted_schema = OFF")
    except sqlite3.Error:
        db.close()
        raise
    return db


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """SQLite's errors as one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise BadInput(_SENTENCES.get(code, f"cannot be used as a ledger ({error})"), where=path) from None


_SENTENCES = {
    sqlite3.SQLITE_NOTADB: "is not a ledger",
    sqlite3.SQLITE_CORRUPT: "is a damaged ledger",
    sqlite3.SQLITE_READONLY: "cannot be written (the file or its folder is read-only)",
    sqlite3.SQLITE_PERM: "cannot be opened (permission denied)",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_FULL: "cannot be written (the disk is full)",
    sqlite3.SQLITE_IOERR: "cannot be read or written (input/output error)",
    sqlite3.SQLITE_BUSY: f"is held by another process for more than {PATIENCE:g} seconds",
}
