"""A ledger's lines, replayed: budgets, charges and data marks. Nothing here is stored; sums are made from the lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from textveil.core.errors import BadInput, OtherData, Refused
from textveil.core.events import Event, Noise, Unpriced, event_from_json
from textveil.core.losses import Cryptographic, LimitedPrecision, Metric
from textveil.core.units import Adjacency, Unit

from .budgets import Budget, Tallies, check_budgets
from .chain import Head, Line
from .containment import INSIDE, WITHOUT_BOUND, for_part, parts_of
from .filters import Tally
from .totals import Question, Total, add_up, check_price, joint, notes_on

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
    def head(self) -> str:
        """The ledger's full head right after this charge: keep it to notice a chain that was cut or rewritten."""
        return str(Head(self.number, self.hash))

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
            "head": self.head,
        }


class Book:
    """What the lines of one ledger say."""

    def __init__(self, name: str, lines: Iterable[Line]):
        self.name = name
        self.entries: list[Entry] = []
        self.marks: set[str] = set()
        self._budgets: dict[str, Budget] = {}
        self._times: dict[Question, Counter[Noise]] = {}
        self._charges: Counter[Question] = Counter()
        self._tallies: dict[tuple[Unit, Adjacency], Tally] = {}
        for line in lines:
            self.read(line)

    def read(self, line: Line) -> None:
        """Take in the next line."""
        match line.kind:
            case "charge":
                entry = Entry.of(line)
                self.entries.append(entry)
                if entry.priced:
                    self._add(entry.event)
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

    def _add(self, event: Event) -> None:
        question = Question.of(event)
        self._times.setdefault(question, Counter())[event.noise] += event.times
        self._charges[question] += 1
        self._tallies.update(self._tallies_with(event))

    def _tallies_with(self, event: Event) -> Tallies:
        """The tallies that one more event changes: of its own question, and of every smaller unit under any adjacency."""
        bearing = [] if Question.of(event).metric else [(event.unit, event.adjacency, event)]
        for unit in INSIDE.get(event.unit, ()):
            part = for_part(event, unit)
            bearing += [] if part is None else [(unit, a, part) for a in Adjacency if a is not Adjacency.METRIC]
        return {(unit, a): self._tallies.get((unit, a), Tally()).plus(part) for unit, a, part in bearing}

    def groups(self) -> dict[Question, list[Event]]:
        """Priced events by question, equal noise counted instead of repeated; what has no price is left out."""
        return {
            question: [Event(noise, question.unit, question.adjacency, times=n) for noise, n in times.items()]
            for question, times in sorted(self._times.items())
        }

    def delta_of(self, question: Question) -> float | None:
        """The delta at which a question is read: that of its budget, the smallest if there are several."""
        found = [b.delta for b in self.budgets if b.covers(question) and b.delta]
        return min(found, default=None)

    def totals(self, delta: float | None = None) -> list[Total]:
        """One line for each question that was charged, and for each unit inside a charged one that a conversion reaches."""
        lines, larger = self._questions()
        return [self._total(question, lines[question], delta, larger) for question in sorted(lines)]

    def total(self, question: Question, delta: float | None = None) -> Total:
        """The line of one question that was charged."""
        lines, larger = self._questions()
        return self._total(question, lines[question], delta, larger)

    def _questions(self) -> tuple[dict[Question, list[Event]], Counter[Unit]]:
        """What each question sums up, and how many charges for larger units bear on each unit."""
        groups = self.groups()
        lines = {question: list(events) for question, events in groups.items()}
        larger: Counter[Unit] = Counter()
        for unit in Unit:
            parts = [part for events in groups.values() for part in parts_of(events, unit)]
            larger[unit] = sum(self._charges[q] for q, events in groups.items() if parts_of(events[:1], unit))
            for question in [q for q in groups if q.unit is unit and not q.metric]:
                lines[question] += parts
            if parts:
                lines.setdefault(Question(unit, Adjacency.REPLACE), parts)
        return lines, larger

    def _total(self, question: Question, events: list[Event], delta: float | None, larger: Counter[Unit]) -> Total:
        read_at = self.delta_of(question) if delta is None else delta
        from_larger = 0 if question.metric else larger[question.unit]
        count = self._charges[question] + from_larger
        loss = add_up(events, read_at)
        return Total(question.unit, question.adjacency, loss, count, from_larger, notes_on(events))

    def unconverted(self) -> list[str]:
        """What bears on a smaller unit in use, but by no known conversion: it is in none of that unit's lines."""
        groups, sentences = self.groups(), []
        used = {(q.unit, q.metric) for q in groups} | {(b.unit, b.metric or "") for b in self.budgets}
        for question, events in groups.items():
            touched = (*INSIDE.get(question.unit, ()), *WITHOUT_BOUND.get(question.unit, ()))
            for unit, metric in sorted((u, m) for u, m in used if u in touched):
                if metric or not parts_of(events, unit):
                    said = f"metric {question.metric}" if question.metric else question.adjacency
                    line = f"metric {metric}" if metric else "epsilon and delta"
                    sentences.append(
                        f"charges per {question.unit} ({said}) also bear on each {unit}, but no conversion into its "
                        f"{line} is known: they are not in that line"
                    )
        return sentences

    def joint(self) -> dict[str, str]:
        """Per unit with several metrics: its joint loss."""
        beside: dict[str, list[Any]] = {}
        for total in self.totals():
            if isinstance(total.loss, (Metric, LimitedPrecision)):
                beside.setdefault(str(total.unit), []).append(total.loss)
        return {unit: joint(losses) for unit, losses in beside.items() if len(losses) > 1}

    def check_charge(self, event: Event, unpriced: bool = False) -> None:
        """Raise BudgetExceeded if the budgets do not cover one more event, BadInput if it has no price at all.

        An event that no theorem prices raises Refused where there are budgets, unless `unpriced` is said.
        """
        if isinstance(event.noise, Unpriced):
            if not unpriced:
                self._check_unpriced(event.noise)
            return
        check_price(event)
        if self.budgets:
            tallies = {**self._tallies, **self._tallies_with(event)}
            check_budgets(self.name, self.budgets, self.groups(), tallies, event)

    def _check_unpriced(self, noise: Unpriced) -> None:
        if self.budgets and not isinstance(noise.loss, Cryptographic):
            raise Refused(
                f"ledger '{self.name}' has budgets, and no budget can cover a release without a price "
                f"({noise.loss.label}). Say --unpriced (unpriced=True) to list it beside the totals all the same."
            )

    def require_own_data(self, fingerprint: str | None, other_data: bool) -> bool:
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
