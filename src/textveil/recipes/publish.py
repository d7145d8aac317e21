"""The one way out: every release folder is made here, whatever room its content comes from.

    enter    OUT is free and can be written; the folder of unfinished work is locked and what no journal covers is purged
    read     the journey reads and checks everything, feeding `account.fingerprint()`; nothing is drawn yet
    charge   `account.charge(...)`: on disk before any noise exists
    draw     noise comes from the `Paid` alone; `work(name)` keeps what a stopped run may go on with, `file(name)` leaves
    finish   only registered names, synced, renamed in one step; then nothing is left but OUT

The folder of unfinished work stands beside OUT (`.OUT.unfinished`, for its owner only):

    journal.jsonl   what was charged, for which data, parameters and place (accounting.journal)
    work/           finished parts, checkpoints; never leaves
    leave/          what will be OUT; made anew by each run

A run that is stopped (Ctrl-C, kill, workers that die, a budget that ends between two of its charges) keeps it, and the
same command goes on without being charged again.
A run that fails removes it and keeps its charge. A seeded run is never taken up again: its seed is nowhere on disk.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from textveil.accounting.account import Account, Paid
from textveil.accounting.journal import FILE, Journal
from textveil.core import BadInput, Guarantee, Payload, Release
from textveil.core.errors import BudgetExceeded
from textveil.core.facts import DataFacts, Facts
from textveil.core.files import empty_folder, private_folder, readable_name
from textveil.core.release import check_free, check_named, check_names, check_writable, settle, write_manifest

WORK, LEAVE = "work", "leave"


class StoppedRun(BadInput):
    """A run that ended early for a reason outside of it: what is done stays for the next run."""


_STOPS = (KeyboardInterrupt, StoppedRun, BudgetExceeded)


class Publication:
    """One release on its way out. Made by `publish`."""

    def __init__(self, out: Path, folder: Path, account: Account):
        self.out, self._folder, self.account = out, folder, account

    def file(self, name: str) -> Path:
        """Where to write something that leaves with the release."""
        return self._folder / LEAVE / name

    def work(self, name: str) -> Path:
        """Where to keep something for a run that is taken up again; it never leaves."""
        return self._folder / WORK / name

    def private(self, name: str) -> Path:
        """Where to write something about private text for its owner alone: OUT.private/, never in OUT."""
        return private_file(self.out, name)

    def bound(self, **facts: Any) -> dict[str, Any]:
        """What makes two runs the same run: the place of the output, the version, and the journey's own facts."""
        from textveil import __version__

        return {"out": str(self.out.absolute()), "textveil": __version__, **facts}

    def data_facts(self, source: Path, **known: Any) -> DataFacts:
        """The input by its name, and today's date."""
        return DataFacts(readable_name(source.name), datetime.now(UTC).date().isoformat(), **known)

    def finish(
        self,
        paid: Paid,
        mechanism: str,
        parameters: Mapping[str, Any],
        data: str,
        *,
        guarantee: Guarantee | None = None,
        delta: float | None = None,
        passes: Sequence[str] = (),
        facts: Facts | None = None,
    ) -> Release:
        """Turn what was written into the release folder: `data` names its file, or its model folder."""
        leaving = self._folder / LEAVE
        value = Payload(self.out / data, data)
        release = paid.release(
            value, mechanism, parameters, guarantee=guarantee, delta=delta, passes=passes, facts=facts
        )
        release = self._with_spent(release)
        write_manifest(leaving, release.manifest(data))
        check_names(leaving, mechanism)
        if self.account.journal is not None:
            self.account.journal.note_done(LEAVE)
        settle(leaving, self.out)
        return release

    def _with_spent(self, release: Release) -> Release:
        """The release, and what its ledger held right after its charge: at the delta of its own promise."""
        spent = self.account.spent(getattr(release.guarantee.loss, "delta", None) or None)
        if spent is None:
            return release
        facts = {**release.stamp.facts, "spent": spent.to_json()}
        return replace(release, stamp=replace(release.stamp, facts=facts))

    def result(self, release: Release) -> dict[str, Any]:
        """What every journey tells of its release."""
        return {
            "out": str(self.out),
            "entry": release.entry,
            "draft": release.stamp.draft,
            "promise": release.guarantee.loss.sentence(),
            "guarantee": release.guarantee.to_json(),
            "passes": list(release.passes),
            "notices": list(self.account.notices),
        }


class ReleaseJob(Protocol):
    """What the job of every journey has: where the release goes, and which ledger is charged how."""

    @property
    def out(self) -> Path: ...

    @property
    def ledger(self) -> Path | None: ...

    @property
    def other_data(self) -> bool: ...

    @property
    def unpriced(self) -> bool: ...


def publish_job(job: ReleaseJob, note: str, *, seed: int | None) -> AbstractContextManager[Publication]:
    """Open the way out for a journey's job."""
    return publish(job.out, note, ledger=job.ledger, seed=seed, other_data=job.other_data, unpriced=job.unpriced)


@contextmanager
def publish(
    out: Path,
    note: str,
    *,
    ledger: Path | None = None,
    seed: int | None = None,
    other_data: bool = False,
    unpriced: bool = False,
) -> Iterator[Publication]:
    """Open the way out to `out`. `note` stands in the ledger: a verb and the name of a file, never text. The name of
    the folder is added to it, so that the ledger says where each release went."""
    check_named(out)
    folder = unfinished_folder(out)
    _check_ledger_elsewhere(ledger, out, folder)
    _check_enter(out, folder)
    with _held(folder) as journal:
        if journal.is_of_a_draft():
            journal.reset()
        account = Account(
            ledger,
            journal,
            seed=seed,
            note=_printable(f"{note} -> {out.name}"),
            other_data=other_data,
            unpriced=unpriced,
        )
        resumed = account.has_paid()
        _purge(folder, resumed=resumed)
        try:
            yield Publication(out, folder, account)
        except BaseException as error:
            stopped = isinstance(error, _STOPS) and account.has_paid() and seed is None
            other_run = resumed and not account.is_engaged  # what lies here is not of this command
            if not (stopped or other_run):
                _remove(folder)
            if isinstance(error, OSError):
                raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=out) from None
            raise
        _remove(folder)


def unfinished_folder(out: Path) -> Path:
    """Where the unfinished work of a release is kept."""
    return out.with_name(f".{out.name}.unfinished")


def private_file(out: Path, name: str) -> Path:
    """A file beside OUT that only its owner can read (write it with mode 600)."""
    named = out if out.name not in ("", "..") else out.resolve()  # an audit of "." too
    return private_folder(named.with_name(f"{named.name}.private")) / name


def _check_ledger_elsewhere(ledger: Path | None, out: Path, folder: Path) -> None:
    """Refuse a ledger that would be removed with the unfinished work, or leave with the release."""
    if ledger is None:
        return
    place = ledger.resolve()
    if any(kept in (place, *place.parents) for kept in (out.resolve(), folder.resolve())):
        raise BadInput("a ledger cannot stand in the folder of a release", where=ledger, possible="a place beside it")


def _printable(note: str) -> str:
    """A note without characters that steer a terminal: a file may have any name."""
    return "".join(letter if letter.isprintable() else "?" for letter in note)


def _check_enter(out: Path, folder: Path) -> None:
    try:
        check_free(out)
    except BadInput:
        if folder.exists():
            with _held(folder) as journal:
                if journal.is_done(LEAVE) or not journal.charges():  # killed after its release stood: it serves nobody
                    _remove(folder)
        raise
    check_writable(out)


@contextmanager
def _held(folder: Path) -> Iterator[Journal]:
    try:
        journal = Journal(folder)
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=folder) from None
    with journal:
        yield journal


def _purge(folder: Path, *, resumed: bool) -> None:
    """Remove what no journal covers: half-written files, what was to leave, and everything if nothing was charged."""
    empty_folder(folder, keep=frozenset((FILE, WORK) if resumed else (FILE,)))
    for name in (WORK, LEAVE):
        private_folder(folder / name)
    for path in (folder / WORK).iterdir():
        if path.name.startswith("."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


__all__ = ["Publication", "ReleaseJob", "StoppedRun", "private_file", "publish", "publish_job", "unfinished_folder"]
