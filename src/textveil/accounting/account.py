"""Who may draw: the only place that charges a ledger and makes a source of private noise.

Claim. A source of noise exists only after its charge is on disk, in the ledger (where one is kept) and in the journal of
the run; a release carries the event as it was charged. After kill -9 at any point there may be a charge without its
release, never a release without its charge, nor two draws of which somebody saw both for one charge.

Derivation. `charge` returns a `Paid` only after ledger and journal are synced, and only a `Paid` has noise. A run that is
taken up again gets its `Paid` back when everything it is bound to is the same (event, data under the ledger's key,
parameters, place of the output) and the ledger still holds the line. Its noise is drawn anew only for output that was not
stored, and what was not stored nobody has seen: it lay in a folder that only its owner can read and was purged. A step
whose output others see at once (`seen=True`: a federated round) is noted as begun before its noise exists; when it was
begun and not done it is charged anew.

A seed makes a draft: see `core.draft`. A seeded run is never taken up again, since its seed is nowhere on disk.
"""

from __future__ import annotations

import itertools
import json
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core.draft import as_draft, is_draft
from textveil.core.errors import BadInput, Refused, TextveilError, UnrecordedWarning
from textveil.core.events import Event
from textveil.core.facts import Facts, SpentSoFar
from textveil.core.fingerprint import KEY_BYTES, Fingerprint
from textveil.core.guarantee import Guarantee
from textveil.core.release import Release, Stamp
from textveil.noise.source import Source, source_for
from textveil.noise.streams import SeededStream

from .journal import Journal
from .ledger import Ledger
from .prices import guarantee_of
from .spent import spent_at

AGAIN = (
    "noise is drawn a second time outside of any ledger: texts or counts that are veiled again cost epsilon again, in a "
    "pipeline at each fit and each prediction, and nothing records it; veil once (Ledger.release, textveil veil) and build "
    "on that"
)
_transforms = itertools.count(1)  # secure ones of this process that no ledger records


def unrecorded(seed: int | None, *, of_a_transform: bool = False) -> Source:
    """The noise of an estimator that is used outside of any ledger: nothing keeps account of it.

    A pipeline transforms at each fit and each prediction, a grid search many times over, so the second transform of a
    process warns, once. A draft does not: it protects nobody in the first place.
    """
    if of_a_transform and seed is None and next(_transforms) == 2:
        warnings.warn(AGAIN, UnrecordedWarning, stacklevel=4)
    return source_for(seed)


@dataclass(frozen=True)
class PartNoise:
    """Makes the noise of each part of a paid release; it can be sent to the processes that draw.

    >>> bool((PartNoise(7).of(0).words(3) == PartNoise(7).of(1).words(3)).any())
    False
    """

    seed: int | None

    def of(self, part: int) -> Source:
        """Fresh secure noise; in a draft, a stream of its own for each part, whoever draws it."""
        if self.seed is None:
            return source_for(None)
        return Source(SeededStream(np.random.SeedSequence(self.seed, spawn_key=(part,))))


@dataclass(frozen=True)
class Paid:
    """A charge that stands on disk, and with it the right to draw."""

    event: Event  # as charged
    entry: str | None
    account: Account = field(repr=False)
    step: str = "release"
    seen: bool = False

    @property
    def draft(self) -> bool:
        return is_draft(self.event)

    def noise(self, part: int | None = None) -> Source:
        """A source for this step, or for one of its parts."""
        self._begin()
        return source_for(self.account.seed) if part is None else PartNoise(self.account.seed).of(part)

    def parts(self) -> PartNoise:
        """Sources for parts that other processes draw."""
        self._begin()
        return PartNoise(self.account.seed)

    def done(self) -> None:
        """Say that the output of a `seen` step is stored: it will not be drawn again."""
        if self.account.journal is not None:
            self.account.journal.note_done(self.step)

    def release(
        self,
        value: Any,
        mechanism: str,
        parameters: Mapping[str, Any],
        *,
        guarantee: Guarantee | None = None,
        delta: float | None = None,
        passes: Sequence[str] = (),
        facts: Facts | None = None,
    ) -> Release:
        """The output with its promise. A draft promises nothing, whatever is given."""
        promise = guarantee if guarantee is not None and not self.draft else guarantee_of(self.event, delta=delta)
        stamp = Stamp.now(mechanism, dict(parameters), draft=self.draft, facts={} if facts is None else facts.to_json())
        entries = self.account.entries
        return Release(
            value,
            self.event,
            promise,
            entries[-1] if entries else None,
            stamp,
            passes=tuple(dict.fromkeys(passes)),
            entries=(entries[0], entries[-1]) if len(entries) > 1 else None,
            head=self.account.head,
        )

    def _begin(self) -> None:
        journal = self.account.journal
        if self.seen and journal is not None and not journal.is_open(self.step):
            journal.note_begun(self.step)


class Account:
    """The ledger and the journal of one run. `ledger`: a path or a Ledger; None keeps no account but the journal's."""

    def __init__(
        self,
        ledger: Path | Ledger | None = None,
        journal: Journal | None = None,
        *,
        seed: int | None = None,
        note: str = "",
        other_data: bool = False,
        unpriced: bool = False,
    ):
        source_for(seed)  # a bad seed is told before anything is read
        self._ledger = ledger if isinstance(ledger, Ledger) else None
        self._path = ledger.path if isinstance(ledger, Ledger) else None if ledger is None else Path(ledger)
        self.journal, self.seed, self.note = journal, seed, note
        self._other_data, self._unpriced = other_data, unpriced
        self._key = self._first_key()
        self.entries: list[str] = []
        self.head: str | None = None
        self.notices: list[str] = []
        self.is_engaged = False  # whether this run has paid, or was recognised as the one that had

    @property
    def ledger_path(self) -> Path | None:
        """The ledger's absolute path: part of what a run is bound to."""
        return None if self._path is None else self._path.absolute()

    def fingerprint(self) -> Fingerprint:
        """A fresh fingerprint under the ledger's key (without a ledger: the journal's), to feed while data is read."""
        return Fingerprint(self._key)

    def charge(
        self,
        event: Event,
        *,
        data: str | None,
        binding: Mapping[str, Any] | None = None,
        step: str = "release",
        seen: bool = False,
        note: str | None = None,
        of: str | None = None,
    ) -> Paid:
        """Pay for an event: on disk, in ledger and journal, when this returns.

        `data` is the data's fingerprint; `binding` whatever else makes two runs the same run (parameters, source, fields).
        `of` stands in the place of a fingerprint: the line that an earlier release of the same data was charged with.
        """
        if of is not None:
            self._require_entry(of)
        asked = event if self.seed is None else as_draft(event)
        bound = _as_json({"event": asked.to_json(), "data": data, "ledger": str(self.ledger_path), **(binding or {})})
        before = self._paid_before(step, bound)
        if before is None or (seen and self.journal is not None and self.journal.is_open(step)):
            entry, head = self._pay(asked, data, self.note if note is None else note, vouched=of is not None)
            if self.journal is not None:
                self.journal.note_charge(step, bound, entry, head, draft=is_draft(asked))
        else:
            entry, head = before["entry"], before["head"]
        self.is_engaged = True
        if entry is not None:
            self._note_paid(entry, head)
        return Paid(asked, entry, self, step, seen)

    def _note_paid(self, entry: str, head: str | None) -> None:
        """Keep the lines of this run for its release; the journal also knows those of runs that were stopped before."""
        if self.journal is None:
            self.entries, self.head = [*self.entries, entry], head
            return
        charges = [charge for charge in self.journal.charges() if charge["entry"] is not None]
        self.entries, self.head = [charge["entry"] for charge in charges], charges[-1]["head"]

    def spent(self, delta: float | None = None) -> SpentSoFar | None:
        """What the ledger held right after this run's last charge; None where none was charged, or it is gone since."""
        if self._path is None or not self.entries:
            return None
        try:
            return spent_at(Ledger(self._path, must_exist=True), self.entries[-1], delta)
        except TextveilError:  # the charge was made and its output is drawn: the release does without this fact
            return None

    def has_paid(self) -> bool:
        """Whether the journal holds a charge already: this run is taken up again."""
        return self.journal is not None and bool(self.journal.charges())

    # ---- within ------------------------------------------------------------------------------------------------

    def _require_entry(self, entry: str) -> None:
        """Refuse where the ledger does not hold the line that an earlier release was charged with."""
        if self._path is None or self._other_data or entry in self._lines_held():
            return
        raise Refused(
            f"ledger '{self._path.stem}' does not hold the charge of what this is made from. Use the ledger that it was "
            "charged to, or --other-data to charge this one all the same."
        )

    def _lines_held(self) -> set[str]:
        if self._path is None or not self._path.exists():
            return set()
        return {line.id for line in Ledger(self._path, must_exist=True).entries()}

    def _first_key(self) -> bytes:
        if self._ledger is not None:
            return self._ledger.key
        if self._path is not None and self._path.exists():
            return Ledger(self._path, must_exist=True).key
        return secrets.token_bytes(KEY_BYTES) if self.journal is None else self.journal.key

    def _paid_before(self, step: str, bound: dict[str, Any]) -> dict[str, Any] | None:
        """The charge of this very step of this very run; BadInput if the folder belongs to another run."""
        if self.journal is None:
            return None
        charges = self.journal.charges(step)
        if not charges:
            return None
        last: dict[str, Any] = charges[-1]
        if {**last["bound"], "data": None} == {**bound, "data": None}:
            self._require_line(last["entry"])
        if last["bound"] != bound:
            raise BadInput(
                "holds the unfinished run of another command",
                where=self.journal.folder,
                possible="repeat that command to finish it, or remove the folder",
            )
        return last

    def _pay(self, event: Event, data: str | None, note: str, *, vouched: bool) -> tuple[str | None, str | None]:
        if self._path is None:
            return None, None
        ledger = self._open_ledger(self._path)
        if data is None and not vouched:
            ledger.check_unknown_data(self._other_data)
        entry = ledger.charge(event, note, fingerprint=data, other_data=self._other_data, unpriced=self._unpriced)
        return entry.id, entry.head

    def _open_ledger(self, path: Path) -> Ledger:
        if self._ledger is not None:
            return self._ledger
        ledger = Ledger(path, key=self._key)
        self.notices.extend(ledger.notices)
        if ledger.key != self._key:
            raise BadInput("was made by another process since this command began", where=path, possible="run it again")
        return ledger

    def _require_line(self, entry: str | None) -> None:
        """A run is taken up again only under the ledger that was charged for it."""
        if entry is None or self._path is None:
            return
        if entry not in self._lines_held():
            where = self.journal.folder if self.journal is not None else self._path
            raise Refused(
                f"ledger '{self._path.stem}' no longer holds the charge of the unfinished run in {where}. "
                "Put the ledger back, or remove that folder to begin anew (which is charged)."
            )


def _as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they read back from the journal, so that comparing them is exact."""
    read: dict[str, Any] = json.loads(json.dumps(values, sort_keys=True, default=str))
    return read


__all__ = ["Account", "Paid", "PartNoise", "unrecorded"]
