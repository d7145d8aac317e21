"""The ledger: one file per data set, written before the noise is drawn.

Claim. Whatever was released through a ledger stands in it: `release` first commits the charge to disk, and only then lets
the mechanism draw. After kill -9 at any point a charge may exist without its release, never a release without its charge.
Several processes may charge at once; each decides and writes under one lock, so together they never exceed a budget.

What a ledger cannot do: see releases that were made without it, or notice that its file was rewritten consistently as a
whole or put back from an older copy. For that, keep a `head` elsewhere and give it to `verify`; every release keeps one.

Speed. A charge hashes only the lines that this process has not checked before, and compares the others with what it has
checked; what fits a budget is mostly decided by a sum (`filters`). `verify`, `total` and everything else that reads hashes
the whole file.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textveil.core.draft import as_draft
from textveil.core.errors import BadInput, BrokenChain, UnknownName
from textveil.core.estimator import public_params_of
from textveil.core.events import Event, Unpriced
from textveil.core.files import readable_name
from textveil.core.fingerprint import KEY_BYTES, Fingerprint, fingerprint_of
from textveil.core.losses import METRICS, Loss, NoPromise
from textveil.core.mechanism import Mechanism, check_data, passes_of
from textveil.core.release import Release
from textveil.core.shape import Shape
from textveil.core.units import Adjacency, Unit

from . import chain, ledger_file
from .book import BUDGET, CHARGE, DATA, OPENED, Book, Entry, charge_body
from .budgets import Budget
from .chain import Head, Line
from .prices import price
from .releases import release_rows, unpriced_rows
from .totals import DEFAULT_DELTA, Question, Total

EVIDENCE = "an attack was scored with the private text, and its figures were published"
UTILITY = "a task was done with the private text, and its figures were published"


class Ledger:
    """Opens a ledger, or makes one without budgets that only keeps track.

    >>> import tempfile
    >>> from textveil.core import Adjacency, Event, MetricNoise, Unit
    >>> ledger = Ledger.new(Path(tempfile.mkdtemp()) / "notes.ledger", unit="word", metric="hamming", epsilon=0.8)
    >>> event = Event(MetricNoise(0.5, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC, mechanism="words.brr")
    >>> ledger.charge(event).number
    3
    >>> ledger.charge(event)
    Traceback (most recent call last):
    ...
    textveil.core.errors.BudgetExceeded: ledger 'notes' has epsilon 0.3 left (unit: word, metric: hamming); this release
    asks 0.5. Lower --epsilon or open a new budget.
    """

    def __init__(self, path: str | os.PathLike[str], *, must_exist: bool = False, key: bytes | None = None):
        """`key` is the secret of a ledger that has to be made; an existing one keeps its own.

        `was_made` tells afterwards whether this call made the file, so that a caller can say so: a misspelt name makes a
        new ledger without budgets.
        """
        self.path = Path(path)
        self.was_made = not must_exist and not self.path.exists() and self._is_made_now(key)
        self._remembered: _Remembered | None = None
        ledger_file.check_is_ledger(self.path)
        ledger_file.tidy(self.path)

    @classmethod
    def new(cls, path: str | os.PathLike[str], *, unit: str | None = None, **budget: Any) -> Ledger:
        """Make a ledger, with a first budget if a unit is given (see `allow`); never overwrites anything."""
        if unit is None and any(value is not None for value in budget.values()):
            raise BadInput("a budget needs a unit", possible="--unit word --metric hamming --epsilon 0.8")
        _check_metric(budget.get("metric"), METRICS)
        ledger = cls.__new__(cls)
        ledger.path, ledger.was_made, ledger._remembered = Path(path), True, None
        try:
            ledger._make(None if unit is None else Budget.of(unit, **_given(budget)))
        except FileExistsError:
            raise BadInput("exists already", where=path, possible="ledger allow, or a new name") from None
        return ledger

    @property
    def name(self) -> str:
        return readable_name(self.path.stem)

    @property
    def notices(self) -> tuple[str, ...]:
        """What nobody may miss: that this call made the file."""
        if not self.was_made:
            return ()
        return (
            f"ledger {self.path} did not exist and was made. It has no budget: it keeps track and refuses nothing.",
        )

    @property
    def key(self) -> bytes:
        """Secret of this file, for fingerprints of its data; never exported."""
        with ledger_file.reading(self.path) as file:
            return file.key()

    @property
    def head(self) -> str:
        """Count and last hash: keep it elsewhere to notice a rewritten file."""
        with ledger_file.reading(self.path) as file:
            return str(file.head())

    def allow(
        self,
        *,
        unit: str,
        epsilon: float,
        delta: float = 0.0,
        metric: str | None = None,
        adjacency: str | None = None,
        precision: int | None = None,
    ) -> Budget:
        """Add a budget, or replace the one of the same scope; either way it is a line of the chain."""
        budget = Budget.of(unit, epsilon, delta, metric, adjacency, precision)
        with ledger_file.writing(self.path) as file:
            charged = {question.metric for question in self._checked(file).groups()}
            _check_metric(metric, METRICS | charged - {""})
            _append(file, BUDGET, budget.to_json())
        return budget

    def quote(self, event: Event, delta: float | None = None) -> Loss:
        """What an event costs by itself, at the delta of its budget (1e-6 if there is none). Charges nothing."""
        return price(event, delta=self._delta_of(event) if delta is None else delta)

    def charge(
        self,
        event: Event,
        note: str = "",
        *,
        fingerprint: str | None = None,
        other_data: bool = False,
        unpriced: bool = False,
    ) -> Entry:
        """Write an event down, on disk when this returns; BudgetExceeded, and nothing written, if it is not covered.

        With a `fingerprint` (see `fingerprint`) the charge is bound to its data: the first one is recorded, another one
        raises OtherData unless `other_data` is set, and is then recorded too. An event that no theorem prices (seeded,
        measured, heuristic, broken; not cryptographic) is refused where there are budgets, unless `unpriced` is said.
        The entry's `head` is the ledger's full head after the charge: a release keeps it.
        """
        body = charge_body(event)
        with ledger_file.writing(self.path) as file:
            book = self._caught_up(file)
            marks = fingerprint is not None and book.require_own_data(fingerprint, other_data)
            book.check_charge(event, unpriced)
            if marks:
                _append(file, DATA, {"fingerprint": fingerprint})
            return Entry.of(_append(file, CHARGE, body, note))

    def note_evidence(
        self,
        note: str,
        *,
        unit: Unit = Unit.WORD,
        mechanism: str = "audit",
        why: str = EVIDENCE,
        fingerprint: str | None = None,
        other_data: bool = False,
    ) -> Entry:
        """List published figures that were computed with the private text: no theorem prices them, no flag is needed.

        `audit --publish` is such a flag itself; the line makes what it gave away visible to whoever reads the ledger.
        """
        noise = Unpriced(NoPromise(why))
        event = Event(noise, unit, Adjacency.REPLACE, source=f"textveil {mechanism}", mechanism=mechanism)
        return self.charge(event, note, fingerprint=fingerprint, other_data=other_data, unpriced=True)

    def find(self, entry_id: str) -> Entry | None:
        """The charge of that id (a release names it), or None if this ledger has no such line."""
        return next((entry for entry in self.entries() if entry.id == entry_id), None)

    def release(
        self,
        mechanism: Mechanism,
        data: Any,
        shape: Shape | None = None,
        *,
        noise: Any = None,
        note: str = "",
        other_data: bool = False,
        unpriced: bool = False,
    ) -> Release:
        """Charge a mechanism, then apply it.

        Noise is drawn from the secure source. A mechanism with a `seed`, or a `noise` that does not declare itself as not
        seeded, makes a draft: it is listed as unpriced and promises nothing.
        """
        from .account import Account

        declared = Shape() if shape is None else shape
        if isinstance(data, Iterator):  # it can be read once, and has to be told from other data before it is drawn
            data = list(data)
        check_data(mechanism, data, declared)
        event = mechanism.event(declared)
        if noise is not None and getattr(noise, "seeded", True):
            event = as_draft(event)
        seed = getattr(mechanism, "seed", None)
        account = Account(self, seed=seed, note=note, other_data=other_data, unpriced=unpriced)
        paid = account.charge(event, data=fingerprint_of(data, self.key))
        value = mechanism.apply(data, noise=paid.noise() if noise is None else noise)
        delta = self._delta_of(paid.event)
        return paid.release(
            value, mechanism.name, public_params_of(mechanism), delta=delta, passes=passes_of(mechanism)
        )

    def check_unknown_data(self, other_data: bool = False) -> None:
        """OtherData if the ledger belongs to a data set, and data that cannot be recognised is to be charged."""
        self._book().require_own_data(None, other_data)

    def fingerprint(self) -> Fingerprint:
        """A fresh fingerprint under this ledger's key, for data that is read piece by piece."""
        return Fingerprint(self.key)

    def bind(self, fingerprint: str, other_data: bool = False) -> None:
        """Tie the ledger to a data set without charging anything; OtherData if it is tied to another one."""
        with ledger_file.writing(self.path) as file:
            if self._checked(file).require_own_data(fingerprint, other_data):
                _append(file, DATA, {"fingerprint": fingerprint})

    def entries(self) -> list[Entry]:
        """All charges, oldest first."""
        return self._book().entries

    def budgets(self) -> list[Budget]:
        """The budgets in force."""
        return self._book().budgets

    def total(self, delta: float | None = None) -> list[Total]:
        """Sums per unit, adjacency and metric, replayed from the lines.

        Composed events are read at `delta`; by default at the delta of their budget, or 1e-6 if there is none.
        """
        return self._book().totals(delta)

    def joint(self) -> dict[str, str]:
        """Joint loss of each unit that several metrics were charged for, e.g. {"word": "0.5 * hamming + 3 * euclidean"}."""
        return self._book().joint()

    def unpriced(self) -> list[Entry]:
        """Charges that no theorem prices: listed, never summed."""
        return [entry for entry in self._book().entries if not entry.priced]

    def state(self, delta: float | None = None) -> dict[str, Any]:
        """Totals, budgets with what is left of them, and every charge, of one moment, as JSON values."""
        book = self._book()
        groups = book.groups()
        return {
            "ledger": self.name,
            "totals": [total.to_json() for total in book.totals(delta)],
            "joint": book.joint(),
            "unconverted": book.unconverted(),
            "budgets": [_budget_state(budget, groups) for budget in book.budgets],
            "unpriced": unpriced_rows(book),
            "charges": len(book.entries),
            "releases": release_rows(book, delta),
        }

    def verify(self, head: str | None = None, *, entry: str | None = None) -> str:
        """Check every line; BrokenChain names the first that was altered, removed or moved. Returns the head.

        Without an anchor from outside, a file that was rewritten as a whole, or put back from an older copy, looks whole:
        give a `head` that was kept elsewhere to notice that too. The head of an earlier day still fits, since lines are
        only ever added. With the id of an `entry` that a release names, that charge must stand in the chain too.
        """
        anchor = None if head is None else Head.parse(head)
        with ledger_file.reading(self.path) as file:
            book = self._checked(file, anchor)
            if entry is not None and all(known.id != entry for known in book.entries):
                raise BrokenChain(f"ledger '{self.name}' has no charge {entry}: it was removed, or never made here")
            return str(file.head())

    def export(self) -> Iterator[str]:
        """Every line as JSON, then the head; the key stays in the file."""
        with ledger_file.reading(self.path) as file:
            lines, head = file.lines(), file.head()
        for line in lines:
            yield json.dumps(line.to_json(), ensure_ascii=False)
        yield json.dumps({"kind": "head", "head": str(head)})

    def book_until(self, entry_id: str) -> Book:
        """The lines up to one charge, checked and replayed: what the ledger said right after it."""
        with ledger_file.reading(self.path) as file:
            self._checked(file)
            lines = file.lines()
        number = next((line.number for line in lines if line.id == entry_id), None)
        if number is None:
            raise BadInput(f"ledger '{self.name}' has no line {entry_id}")
        return Book(self.name, [line for line in lines if line.number <= number])

    def _book(self) -> Book:
        with ledger_file.reading(self.path) as file:
            return self._checked(file)

    def _delta_of(self, event: Event) -> float:
        return self._book().delta_of(Question.of(event)) or DEFAULT_DELTA

    def _checked(self, file: ledger_file.Transaction, anchor: Head | None = None) -> Book:
        """Replay lines that hold; a broken ledger is neither added up nor written to."""
        lines = file.lines()
        chain.check(lines, file.head(), self.name, anchor)
        if not lines or lines[0].kind != OPENED or lines[0].values["key"] != _key_mark(file.key()):
            raise BrokenChain(f"ledger '{self.name}': line 1 does not belong to this file (its key was altered)")
        return Book(self.name, lines)

    def _caught_up(self, file: ledger_file.Transaction) -> Book:
        """The book, of which only lines that this process has not checked before are hashed and replayed.

        Older lines are compared, byte for byte, with those that were checked; if one differs, everything is checked anew.
        Only for a writer, which holds the file alone.
        """
        rows, memory = file.rows(), self._remembered
        self._remembered = None  # should anything here fail, the next charge starts over
        if memory is None or rows[: len(memory.rows)] != memory.rows or file.key() != memory.key:
            book = self._checked(file)
        else:
            book, last = memory.book, memory.rows[-1]
            lines = [Line(*row) for row in rows[len(memory.rows) :]]
            chain.check(lines, file.head(), self.name, after=Head(last[0], last[-1]))
            for line in lines:
                book.read(line)
        self._remembered = _Remembered(book, rows, file.key())
        return book

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_remembered": None}

    def _is_made_now(self, key: bytes | None) -> bool:
        try:
            self._make(None, key)
        except FileExistsError:  # another process was faster
            return False
        return True

    def _make(self, budget: Budget | None, key: bytes | None = None) -> None:
        secret = secrets.token_bytes(KEY_BYTES) if key is None else key

        def fill(file: ledger_file.Transaction) -> None:
            file.keep_key(secret)
            _append(file, OPENED, {"format": ledger_file.FORMAT, "key": _key_mark(secret)})
            if budget is not None:
                _append(file, BUDGET, budget.to_json())

        ledger_file.create(self.path, fill)


@dataclass(frozen=True)
class _Remembered:
    """The lines that this process has checked, and what they say."""

    book: Book
    rows: list[ledger_file.Row]
    key: bytes


def _check_metric(metric: str | None, known: set[str]) -> None:
    if metric is not None and metric not in known:
        raise UnknownName("metric", metric, known)


def _append(file: ledger_file.Transaction, kind: str, body: dict[str, Any], note: str = "") -> Line:
    note = readable_name(note)
    line = chain.next_line(file.head(), datetime.now(UTC).isoformat(timespec="seconds"), kind, body, note)
    file.append(line)
    return line


def _key_mark(key: bytes) -> str:
    """Ties the secret key to the chain without showing it (it is 32 random bytes)."""
    return hashlib.sha256(b"textveil ledger key" + key).hexdigest()


def _given(values: dict[str, Any]) -> dict[str, Any]:
    if values.get("epsilon") is None:
        raise BadInput("a budget needs an epsilon", possible="--unit word --metric hamming --epsilon 0.8")
    return {name: value for name, value in values.items() if value is not None}


def _budget_state(budget: Budget, groups: dict[Question, list[Event]]) -> dict[str, Any]:
    spent = budget.spent(groups)
    used = spent.epsilon if math.isfinite(spent.epsilon) else "inf"
    return {**budget.to_json(), "spent": used, "left": max(0.0, budget.epsilon - spent.epsilon)}
