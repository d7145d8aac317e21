"""The store of a review: documents, what was found in them, and every step of every reviewer, in one SQLite file.

The file holds private text, so only its owner can read it (mode 600). Each step of a reviewer is one row, on disk before
the page hears that it was saved: a crash loses nothing that was shown as saved. Steps are never changed, an undo marks the
last one as undone. A step names the version of the document that it was made on, so that of two open pages the second is
told that the document has changed instead of writing over it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput

from .marks import Mark, check_apart

FORMAT = 1
IDLE_SECONDS = 300.0  # longer than this nobody was at work

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, record TEXT NOT NULL,
                        marks TEXT NOT NULL);
CREATE TABLE steps (seq INTEGER PRIMARY KEY AUTOINCREMENT, reviewer TEXT NOT NULL, number INTEGER NOT NULL,
                    marks TEXT NOT NULL, done INTEGER NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL,
                    undone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX steps_by_document ON steps (reviewer, number, undone);
"""


class StaleDocument(BadInput):
    """The document was changed on another page since it was read."""


@dataclass(frozen=True)
class ReviewDocument:
    """A document to review: its text, the fields of its record, and what was found in it."""

    id: str
    text: str
    marks: list[Mark]
    record: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReviewState:
    """A document as one reviewer left it. `version` counts the changes so far."""

    number: int
    document: ReviewDocument
    marks: list[Mark]
    version: int
    done: bool


class ReviewStore:
    """Opens the store of a review.

    >>> import tempfile
    >>> from textveil.text.spans import Span
    >>> from .marks import Status
    >>> path = Path(tempfile.mkdtemp()) / "review.db"
    >>> store = ReviewStore.create(path, [ReviewDocument("a", "Anna called.", [Mark(Span(0, 4, "PERSON", 0.6))])])
    >>> version = store.save("ada", 0, 0, [Mark(Span(0, 4, "PERSON", 0.6), Status.CONFIRMED)], done=True, seconds=4)
    >>> store.state("ada", 0).done, store.progress("ada")["done"]
    (True, 1)
    >>> store.undo("ada"), store.state("ada", 0).done
    (0, False)
    """

    def __init__(self, path: Path):
        if not path.is_file():
            raise BadInput("does not exist", where=path, possible="begin a review with documents")
        self.path = path
        try:
            with self._open() as database:
                values = dict(database.execute("SELECT key, value FROM meta"))
            version = int(values["format"])
        except (sqlite3.DatabaseError, KeyError, ValueError):
            raise BadInput("is no store of a review", where=path) from None
        if version > FORMAT:
            raise BadInput("was written by a newer version", where=path)
        self.labels: tuple[str, ...] = tuple(json.loads(values["labels"]))
        self.source = values["source"]

    @classmethod
    def create(
        cls, path: Path, documents: Iterable[ReviewDocument], *, labels: Iterable[str] = (), source: str = ""
    ) -> ReviewStore:
        """Begin a review: everything is in the file, or there is no file."""
        if path.exists():
            raise BadInput("exists already", where=path, possible="go on with it, or another name")
        new = path.with_name(f".{path.name}.new")
        new.unlink(missing_ok=True)
        try:
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            _fill(new, documents, tuple(labels), source)
            os.replace(new, path)
        except OSError as error:
            raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=path) from None
        finally:
            new.unlink(missing_ok=True)
        return cls(path)

    # ---- documents ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        with self._open() as database:
            return int(database.execute("SELECT count(*) FROM documents").fetchone()[0])

    def document(self, number: int) -> ReviewDocument:
        with self._open() as database:
            row = database.execute(
                "SELECT id, text, record, marks FROM documents WHERE number = ?", (number,)
            ).fetchone()
        if row is None:
            raise BadInput(f"there is no document {number + 1}", where=self.path)
        return ReviewDocument(row[0], row[1], _marks(row[3], len(row[1])), json.loads(row[2]))

    def state(self, reviewer: str, number: int) -> ReviewState:
        """A document with the last step of a reviewer, or with the proposals."""
        document = self.document(number)
        with self._open() as database:
            row = database.execute(
                "SELECT marks, done FROM steps WHERE reviewer = ? AND number = ? AND undone = 0 ORDER BY seq DESC LIMIT 1",
                (reviewer, number),
            ).fetchone()
        if row is None:
            return ReviewState(number, document, document.marks, self._version(reviewer, number), False)
        marks = _marks(row[0], len(document.text))
        return ReviewState(number, document, marks, self._version(reviewer, number), bool(row[1]))

    def states(self, reviewer: str) -> Iterator[ReviewState]:
        return (self.state(reviewer, number) for number in range(len(self)))

    def reviewers(self) -> list[str]:
        """Everybody who made a step, in order of their first."""
        with self._open() as database:
            return [
                row[0] for row in database.execute("SELECT reviewer FROM steps GROUP BY reviewer ORDER BY min(seq)")
            ]

    # ---- steps -------------------------------------------------------------------------------------------------

    def save(
        self, reviewer: str, number: int, version: int, marks: list[Mark], *, done: bool, seconds: float = 0.0
    ) -> int:
        """Write a step; the new version. Refuses one that was made on an older state of the document."""
        check_apart(marks)
        self.document(number)
        row = (reviewer, number, _as_text(marks), int(done), min(max(seconds, 0.0), IDLE_SECONDS), time.time())
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            if _version_of(database, reviewer, number) != version:
                raise StaleDocument("this document was changed on another page", possible="look at it again")
            database.execute(
                "INSERT INTO steps (reviewer, number, marks, done, seconds, at) VALUES (?, ?, ?, ?, ?, ?)", row
            )
        return version + 1

    def undo(self, reviewer: str) -> int | None:
        """Take back the last step; the number of its document, or None if there is nothing to take back."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            row = database.execute(
                "SELECT seq, number FROM steps WHERE reviewer = ? AND undone = 0 ORDER BY seq DESC LIMIT 1", (reviewer,)
            ).fetchone()
            if row is None:
                return None
            database.execute("UPDATE steps SET undone = 1 WHERE seq = ?", (row[0],))
            return int(row[1])

    def done_numbers(self, reviewer: str) -> set[int]:
        """Documents that a reviewer has finished."""
        with self._open() as database:
            last = database.execute(
                "SELECT number, done FROM steps WHERE seq IN "
                "(SELECT max(seq) FROM steps WHERE reviewer = ? AND undone = 0 GROUP BY number)",
                (reviewer,),
            )
            return {number for number, done in last if done}

    def progress(self, reviewer: str) -> dict[str, Any]:
        """How far a reviewer is, and how long the rest will take at the pace so far (None before the first)."""
        with self._open() as database:
            seconds = database.execute(
                "SELECT coalesce(sum(seconds), 0) FROM steps WHERE reviewer = ? AND undone = 0", (reviewer,)
            ).fetchone()[0]
        total, done = len(self), len(self.done_numbers(reviewer))
        pace = seconds / done if done else None
        return {"done": done, "total": total, "seconds_left": None if pace is None else pace * (total - done)}

    # ---- the file ----------------------------------------------------------------------------------------------

    def _version(self, reviewer: str, number: int) -> int:
        with self._open() as database:
            return _version_of(database, reviewer, number)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one question: the server answers on several threads."""
        database = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = FULL")
            yield database
            if database.in_transaction:
                database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        finally:
            database.close()


def _version_of(database: sqlite3.Connection, reviewer: str, number: int) -> int:
    """How often a reviewer has changed a document: each step counts, and each step that was taken back once more."""
    query = "SELECT count(*) + coalesce(sum(undone), 0) FROM steps WHERE reviewer = ? AND number = ?"
    return int(database.execute(query, (reviewer, number)).fetchone()[0])


def _fill(path: Path, documents: Iterable[ReviewDocument], labels: tuple[str, ...], source: str) -> None:
    database = sqlite3.connect(path)
    try:
        database.executescript(_TABLES)
        labels_found = set[str](labels)
        for number, document in enumerate(documents):
            labels_found.update(mark.span.label for mark in document.marks)
            row = (
                number,
                document.id,
                document.text,
                json.dumps(document.record, default=str),
                _as_text(document.marks),
            )
            try:
                database.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", row)
            except sqlite3.IntegrityError:
                raise BadInput(f"the id of document {number + 1} stands there twice") from None
        listed = [*labels, *sorted(labels_found - set(labels))]
        for key, value in {"format": str(FORMAT), "labels": json.dumps(listed), "source": source}.items():
            database.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
        database.commit()
    finally:
        database.close()


def _as_text(marks: list[Mark]) -> str:
    return json.dumps([mark.to_json() for mark in marks])


def _marks(text: str, length: int) -> list[Mark]:
    return [Mark.from_json(row, length) for row in json.loads(text)]


__all__ = ["ReviewDocument", "ReviewState", "ReviewStore", "StaleDocument"]
