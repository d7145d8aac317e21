"""The ledger: one file per data set, written before the noise is drawn.

Claim. Whatever was released through a ledger stands in it: `release` first commits the charge to disk, and only then lets
the mechanism draw. After kill -9 at any point a charge may exist without its release, never a release without its charge.
Several processes may charge at once; each decides and writes under one lock, so together they never exceed a budget.

What a ledger cannot do: see releases that were made without it, or notice that its file was rewritten consistently as a
whole or put back from an older copy. For that, keep a `head` elsewhere and give it to `verify`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput, BrokenChain
from textveil.core.events import Event, Unpriced
from textveil.core.fingerprint import KEY_BYTES, Fingerprint, fingerprint_of
from textveil.core.losses import Loss, NoPromise
from textveil.core.mechanism import Mechanism
from textveil.core.release import Release, Stamp
from textveil.core.shape import Shape
from textveil.noise.source import source_for

from . import chain, ledger_file
from .book import BUDGET, CHARGE, DATA, OPENED, Book, Entry, charge_body
from .budgets import Budget
from .chain import Head, Line
from .prices import guarantee_of, price
from .totals import DEFAULT_DELTA, Question, Total

SEEDED = "made with a seed: whoever knows or guesses it can repeat the draws and undo them"


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
        """`key` is the secret of a ledger that has to be made; an existing one keeps its own."""
        self.path = Path(path)
        if not must_exist and not self.path.exists():
            with suppress(FileExistsError):  # another process was faster
                self._make(None, key)
        ledger_file.check_is_ledger(self.path)

    @classmethod
    def new(cls, path: str | os.PathLike[str], *, unit: str | None = None, **budget: Any) -> Ledger:
        """Make a ledger, with a first budget if a unit is given (see `allow`); never overwrites anything."""
        if unit is None and any(value is not None for value in budget.values()):
            raise BadInput("a budget needs a unit", possible="--unit word --metric hamming --epsilon 0.8")
        ledger = cls.__new__(cls)
        ledger.path = Path(path)
        try:
            ledger._make(None if unit is None else Budget.of(unit, **_given(budget)))
        except FileExistsError:
            raise BadInput("exists already", where=path, possible="ledger allow, or a new name") from None
        return ledger

    @property
    def name(self) -> str:
        return self.path.stem

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
            self._checked(file)
            _append(file, BUDGET, budget.to_json())
        return budget

    def quote(self, event: Event, delta: float | None = None) -> Loss:
        """What an event costs by itself, at the delta of its budget (1e-6 if there is none). Charges nothing."""
        return price(event, delta=self._delta_of(event) if delta is None else delta)

    def charge(
        self, event: Event, note: str = "", *, fingerprint: str | None = None, other_data: bool = False
    ) -> Entry:
        """Write an event down, on disk when this returns; BudgetExceeded, and nothing written, if it is not covered.

        With a `fingerprint` (see `fingerprint`) the charge is bound to its data: the first one is recorded, another one
        raises OtherData unless `other_data` is set, and is then recorded too.
        """
        body = charge_body(event)
        with ledger_file.writing(self.path) as file:
            book = self._checked(file)
            marks = fingerprint is not None and book.is_new_data(fingerprint, other_data)
            book.check_charge(event)
            if marks:
                _append(file, DATA, {"fingerprint": fingerprint})
            return Entry.of(_append(file, CHARGE, body, note))

    def release(
        self,
        mechanism: Mechanism,
        data: Any,
        shape: Shape | None = None,
        *,
        noise: Any = None,
        note: str = "",
        other_data: bool = False,
    ) -> Release:
        """Charge a mechanism, then apply it.

        Noise is drawn from the secure source. A mechanism with a `seed`, or a `noise` that does not declare itself as not
        seeded, makes a draft: it is listed as unpriced and promises nothing.
        """
        event = mechanism.event(Shape() if shape is None else shape)
        seed = getattr(mechanism, "seed", None)
        draft = seed is not None or (noise is not None and getattr(noise, "seeded", True))
        if draft:
            event = Event(Unpriced(NoPromise(SEEDED, "seeded")), event.unit, event.adjacency, mechanism=event.mechanism)
        guarantee = guarantee_of(event, delta=self._delta_of(event))
        entry = self._charge_data(event, data, note, other_data)
        value = mechanism.apply(data, noise=source_for(seed) if noise is None else noise)
        stamp = Stamp.now(mechanism.name, _public(mechanism), draft=draft)
        return Release(value, event, guarantee, entry.id, stamp)

    def fingerprint(self) -> Fingerprint:
        """A fresh fingerprint under this ledger's key, for data that is read piece by piece."""
        return Fingerprint(self.key)

    def bind(self, fingerprint: str, other_data: bool = False) -> None:
        """Tie the ledger to a data set without charging anything; OtherData if it is tied to another one."""
        with ledger_file.writing(self.path) as file:
            if self._checked(file).is_new_data(fingerprint, other_data):
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
        """Totals, budgets with what is left of them, and unpriced charges, of one moment, as JSON values."""
        book = self._book()
        groups = book.groups()
        return {
            "ledger": self.name,
            "totals": [total.to_json() for total in book.totals(delta)],
            "joint": book.joint(),
            "budgets": [_budget_state(budget, groups) for budget in book.budgets],
            "unpriced": [_unpriced_state(entry) for entry in book.entries if not entry.priced],
            "charges": len(book.entries),
        }

    def verify(self, head: str | None = None) -> str:
        """Check every line; BrokenChain names the first that was altered, removed or moved. Returns the head.

        Without an anchor from outside, a file that was rewritten as a whole, or put back from an older copy, looks whole:
        give a `head` that was kept elsewhere to notice that too. The head of an earlier day still fits, since lines are
        only ever added.
        """
        anchor = None if head is None else Head.parse(head)
        with ledger_file.reading(self.path) as file:
            self._checked(file, anchor)
            return str(file.head())

    def export(self) -> Iterator[str]:
        """Every line as JSON, then the head; the key stays in the file."""
        with ledger_file.reading(self.path) as file:
            lines, head = file.lines(), file.head()
        for line in lines:
            yield json.dumps(line.to_json(), ensure_ascii=False)
        yield json.dumps({"kind": "head", "head": str(head)})

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

    def _make(self, budget: Budget | None, key: bytes | None = None) -> None:
        secret = secrets.token_bytes(KEY_BYTES) if key is None else key

        def fill(file: ledger_file.Transaction) -> None:
            file.keep_key(secret)
            _append(file, OPENED, {"format": ledger_file.FORMAT, "key": _key_mark(secret)})
            if budget is not None:
                _append(file, BUDGET, budget.to_json())

        ledger_file.create(self.path, fill)

    def _charge_data(self, event: Event, data: Any, note: str, other_data: bool) -> Entry:
        fingerprint = fingerprint_of(data, self.key)
        if fingerprint is None:
            self._book().is_new_data(None, other_data)
        return self.charge(event, note, fingerprint=fingerprint, other_data=other_data)


def _append(file: ledger_file.Transaction, kind: str, body: dict[str, Any], note: str = "") -> Line:
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


def _public(mechanism: Mechanism) -> dict[str, Any]:
    """Constructor parameters that are plain values. The seed is left out: it would undo the draft."""
    ask = getattr(mechanism, "get_params", None)
    values = ask() if callable(ask) else {}
    return {name: value for name, value in values.items() if name != "seed" and _is_plain(value)}


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _budget_state(budget: Budget, groups: dict[Question, list[Event]]) -> dict[str, Any]:
    spent = budget.spent(groups)
    used = spent.epsilon if math.isfinite(spent.epsilon) else "inf"
    return {**budget.to_json(), "spent": used, "left": max(0.0, budget.epsilon - spent.epsilon)}


def _unpriced_state(entry: Entry) -> dict[str, Any]:
    noise = entry.event.noise
    assert isinstance(noise, Unpriced)
    shown = {"id": entry.id, "created": entry.created, "mechanism": entry.mechanism, "note": entry.note}
    return {**shown, "unit": str(entry.event.unit), "label": noise.loss.label, "loss": noise.loss.to_json()}
