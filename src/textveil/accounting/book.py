"""A ledger's lines, replayed: budgets, charges and data marks. Nothing here is stored; sums are made from the lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from textveil.core.errors import BadInput, OtherData
from textveil.core.events import Event, Unpriced, event_from_json
from textveil.core.losses import LimitedPrecision, Metric

from .budgets import Budget, check_budgets
from .chain import Line
from .totals import Question, Total, add_up, by_question, check_price, joint

OPENED, BUDGET, DATA, CHARGE = "opened", "budget", "data", "charge"


@dataclass(frozen=True)
class Entry:
    """One charge: it stands on disk before the noise of its release is drawn."""

    id: str
    number: int
    created: str
    event: Event
    note: str
    previous: str
    hash: str

    @classmethod
    def of(cls, line: Line) -> Entry:
        return cls(line.id, line.number, line.created, _event(line.body), line.note, line.previous, line.hash)

    @property
    def mechanism(self) -> str:
        return self.event.mechanism

    @property
    def priced(self) -> bool:
        return not isinstance(self.event.noise, Unpriced)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "number": self.number,
            "created": self.created,
            "mechanism": self.mechanism,
            "note": self.note,
            "event": self.event.to_json(),
            "previous": self.previous,
            "hash": self.hash,
        }


class Book:
    """What the lines of one ledger say."""

    def __init__(self, name: str, lines: Iterable[Line]):
        self.name = name
        self.entries: list[Entry] = []
        self.marks: set[str] = set()
        self._budgets: dict[str, Budget] = {}
        for line in lines:
            self._read(line)

    def _read(self, line: Line) -> None:
        match line.kind:
            case "charge":
                self.entries.append(Entry.of(line))
            case "budget":
                budget = Budget.of(**line.values)
                self._budgets[budget.scope] = budget
            case "data":
                self.marks.add(line.values["fingerprint"])
            case "opened":
                pass
            case other:  # a line of unknown meaning might be a charge: unsupported, never skipped
                raise BadInput(f"ledger '{self.name}': line {line.number} has the unknown kind '{other}'")

    @property
    def budgets(self) -> list[Budget]:
        return list(self._budgets.values())

    def groups(self) -> dict[Question, list[Event]]:
        return by_question(entry.event for entry in self.entries)

    def delta_of(self, question: Question) -> float | None:
        """The delta at which a question is read: that of its budget, the smallest if there are several."""
        found = [b.delta for b in self.budgets if b.covers(question) and b.delta]
        return min(found, default=None)

    def totals(self, delta: float | None = None) -> list[Total]:
        found = []
        for question, events in self.groups().items():
            read_at = self.delta_of(question) if delta is None else delta
            found.append(Total(question.unit, question.adjacency, add_up(events, read_at), len(events)))
        return found

    def joint(self) -> dict[str, str]:
        """Per unit with several metrics: its joint loss."""
        beside: dict[str, list[Any]] = {}
        for total in self.totals():
            if isinstance(total.loss, (Metric, LimitedPrecision)):
                beside.setdefault(str(total.unit), []).append(total.loss)
        return {unit: joint(losses) for unit, losses in beside.items() if len(losses) > 1}

    def check_charge(self, event: Event) -> None:
        """Raise BudgetExceeded if the budgets do not cover one more event, BadInput if it has no price at all."""
        if not isinstance(event.noise, Unpriced):
            check_price(event)
            check_budgets(self.name, self.budgets, self.groups(), event)

    def is_new_data(self, fingerprint: str | None, other_data: bool) -> bool:
        """Whether a mark has to be written; raises OtherData if this data may not be charged here."""
        if fingerprint in self.marks:
            return False
        if self.marks and not other_data:
            what = "data of a kind it cannot recognise" if fingerprint is None else "other data"
            raise OtherData(
                f"ledger '{self.name}' belongs to another data set and this is {what}. "
                "Use one ledger per data set, or --other-data (other_data=True) to charge it here all the same."
            )
        return fingerprint is not None


def charge_body(event: Event) -> dict[str, Any]:
    """An event as it is written down; what could not be read back is refused before it is charged."""
    try:
        body = event.to_json()
        if event_from_json(json.loads(json.dumps(body, allow_nan=False))) == event:
            return body
    except ValueError:
        pass
    raise BadInput("an event with values that JSON cannot hold cannot be charged", possible="finite numbers and text")


@lru_cache(maxsize=4096)
def _event(body: str) -> Event:
    return event_from_json(json.loads(body))
