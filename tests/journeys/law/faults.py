"""Kill a call at any of its places, the moments that matter to what is left on the disk.

A place is reached just before something happens inside one folder: a file is opened for writing, renamed, removed or flushed
to the disk, a folder is made, a statement changes a ledger; and just before a source of noise is made. Opening to read
changes nothing: a kill there leaves what a kill at the next place leaves.

The call runs in a forked child, so that all imports are there already and a kill takes milliseconds. What is not reached:
places in processes that the call starts. OpenMP does not survive a fork: before a call that uses torch, ask torch for one
thread.

    names = count_places(call, folder)             # one run to the end
    for place in range(len(names)):
        ...                                        # the call has to find what it found the first time
        assert run_killed(call, folder, place) == KILLED
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from waiting import GENEROUS, wait_until

from textveil.noise import Source

KILLED = -signal.SIGKILL
_CHANGES = {
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"),
    *("os.truncate", "os.utime", "shutil.copyfile", "shutil.copytree", "shutil.move", "shutil.rmtree"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING_SQL = {"BEGIN", "COMMIT", "END", "CREATE", "INSERT", "UPDATE", "DELETE", "REPLACE", "DROP", "VACUUM"}


def count_places(call: Callable[[], object], folder: Path) -> list[str]:
    """The names of all places that the call comes by, in order. It has to end well."""
    with tempfile.TemporaryFile() as noted:
        status = _in_a_child(call, _Places(folder, lambda number, name: os.write(noted.fileno(), f"{name}\n".encode())))
        noted.seek(0)
        names = noted.read().decode().splitlines()
    if status != 0:
        raise AssertionError(f"the call ended with status {status}, after: {', '.join(names[-3:]) or 'no place'}")
    return names


def run_killed(call: Callable[[], object], folder: Path, place: int) -> int:
    """Run the call and kill it at a place, counted from 0: KILLED, or its own status if it never came there."""

    def kill_there(number: int, name: str) -> None:
        if number == place:
            os.kill(os.getpid(), signal.SIGKILL)

    return _in_a_child(call, _Places(folder, kill_there))


def _in_a_child(call: Callable[[], object], places: _Places) -> int:
    """Run the call in a fork of this process that watches its places; its exit status, below 0 for a signal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: other threads are not in the child
        child = os.fork()
    if child == 0:
        _run_and_exit(call, places)
    ended: list[int] = []

    def has_ended() -> bool:
        done, status = os.waitpid(child, os.WNOHANG)
        ended.extend([os.waitstatus_to_exitcode(status)] if done else [])
        return bool(done)

    if not wait_until(has_ended, GENEROUS, pause=0.001):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise AssertionError(f"the call did not end within {GENEROUS:g} seconds")
    return ended[0]


def _run_and_exit(call: Callable[[], object], places: _Places) -> None:
    status = 1
    try:
        places.watch()
        call()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)  # nothing of the test runner may run in the child


class _Places:
    """Notices places and calls `at_place` with the number and the name of each. Made for a process that ends soon."""

    def __init__(self, folder: Path, at_place: Callable[[int, str], object]):
        self._folder, self._at_place, self._count = os.path.realpath(folder), at_place, 0

    def watch(self) -> None:
        """From here on, to the end of the process: an audit hook cannot be taken back."""
        sys.addaudithook(self._audited)
        for name in ("fsync", "fdatasync"):  # audit hooks do not hear of them
            if hasattr(os, name):
                setattr(os, name, self._before_flush(name, getattr(os, name)))
        self._note_statements()
        self._note_sources()

    def _note_statements(self) -> None:
        connect = sqlite3.connect

        def connect_noted(database: Any, *arguments: Any, **named: Any) -> sqlite3.Connection:
            connection = connect(database, *arguments, **named)
            connection.set_trace_callback(lambda sql: self._statement(sql, database))
            return connection

        sqlite3.connect = connect_noted  # type: ignore[assignment]

    def _statement(self, sql: str, database: object) -> None:
        verb = sql.split(maxsplit=1)[0].rstrip(";").upper() if sql.strip() else ""
        if verb in _CHANGING_SQL:
            self._maybe_reached(f"sql {verb}", _path_of_database(database))

    def _note_sources(self) -> None:
        make = Source.__init__

        def make_noted(source: Source, *arguments: Any, **named: Any) -> None:
            self._reached("Source")
            make(source, *arguments, **named)

        Source.__init__ = make_noted  # type: ignore[method-assign]

    def _audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING:
                self._maybe_reached("open", path)
        elif event in _CHANGES:
            self._maybe_reached(event, *_paths_of(arguments))
        elif event == "sqlite3.connect":
            self._maybe_reached(event, _path_of_database(arguments[0]))

    def _before_flush(self, name: str, flush: Callable[[int], None]) -> Callable[[Any], None]:
        def flush_noted(file: Any) -> None:
            descriptor = file if isinstance(file, int) else file.fileno()
            self._maybe_reached(f"os.{name}", _path_of_descriptor(descriptor))
            flush(descriptor)

        return flush_noted

    def _maybe_reached(self, event: str, *paths: object) -> None:
        inside = [name for path in paths if (name := self._name_inside(path)) is not None]
        if inside:
            self._reached(f"{event} {' -> '.join(inside)}")

    def _name_inside(self, path: object) -> str | None:
        """The path seen from the folder; None outside of it."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None
        parent, name = os.path.split(os.path.abspath(os.fsdecode(path)))
        full = os.path.join(os.path.realpath(parent), name)
        if os.path.commonpath([self._folder, full]) != self._folder:
            return None
        return os.path.relpath(full, self._folder)

    def _reached(self, name: str) -> None:
        number, self._count = self._count, self._count + 1
        self._at_place(number, name)


def _paths_of(arguments: tuple[Any, ...]) -> list[str]:
    """The paths among an event's arguments; those given relative to an open folder are made whole by its number."""
    paths = [os.fsdecode(a) for a in arguments if isinstance(a, (str, bytes, os.PathLike))]
    numbers = [a for a in arguments[len(paths) :] if isinstance(a, int) and not isinstance(a, bool)]
    folder = _path_of_descriptor(numbers[-1]) if numbers and numbers[-1] > 2 else None
    return [os.path.join(folder, path) if folder and os.path.isdir(folder) else path for path in paths]


def _path_of_descriptor(descriptor: int) -> str | None:
    """The path of an open file, where the system tells."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None


def _path_of_database(database: object) -> object:
    """The file of a database that was opened by path or by address."""
    if isinstance(database, str) and database.startswith("file:"):
        return unquote(urlsplit(database).path)
    return database
