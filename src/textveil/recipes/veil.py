"""The journey of a file: read, check, charge, draw, write, card.

    check     one pass over the whole file draws no noise: what it finds charges nothing
    charge    the ledger line is on disk before the first draw
    draw      batches of records become parts in a hidden folder beside OUT
    settle    the parts become data.*, with release.json and card.html, and the folder takes its name

A run that is stopped leaves the hidden folder; the same command takes it up again, keeps the finished parts and is not
charged again: each record is veiled once. A run that fails removes it, and keeps its charge.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from textveil.accounting import guarantee_of
from textveil.accounting.ledger import Ledger
from textveil.core import BadInput, Payload, Release, Shape, Stamp
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import positive_integer
from textveil.core.release import check_free, settle, write_manifest
from textveil.noise import source_for
from textveil.text import readers, tokens, writers
from textveil.text.documents import replace
from textveil.words.brr import BRR
from textveil.words.mechanism import WordMechanism

Bar = Callable[[str, float | None, str], AbstractContextManager[Callable[[float], None]]]

RECORDS_A_PART = 20_000
RECORDS_AT_ONCE = 500


@dataclass(frozen=True)
class Job:
    """One file to veil."""

    source: Path
    out: Path
    mechanism: WordMechanism
    text_field: str | None = None
    format: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    max_words: int | None = None
    max_line_bytes: int = readers.DEFAULT_MAX_LINE
    facts: dict[str, Any] = field(default_factory=dict)

    def reader(self) -> readers.Reader:
        return readers.open_reader(
            self.source, format=self.format, text_field=self.text_field, max_line_bytes=self.max_line_bytes
        )


@dataclass(frozen=True)
class Survey:
    """What the checking pass found. Private: only the fingerprint is kept, in the ledger, under its key."""

    records: int
    words: int
    fingerprint: str


def veil_file(job: Job, *, bar: Bar) -> dict[str, Any]:
    """Veil a file into a release folder and return what to print."""
    if job.max_words is not None:
        positive_integer("max-words", job.max_words)
    job.mechanism.fit()
    unfinished = job.out.with_name(f".{job.out.name}.unfinished")
    check_free(job.out)
    check_writable(job.out)
    key = _ledger_key(job.ledger)
    survey = check(job, key, bar)
    plan = _plan(job, survey)
    entry = _resume(unfinished, plan)
    if entry is _NOT_BEGUN:
        entry = charge(job, key, survey)
        _begin(unfinished, plan, entry)
    try:
        _draw_parts(job, survey, unfinished, bar)
        release = _settle(job, unfinished, entry)
    except KeyboardInterrupt:
        raise
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=job.out) from None
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return {
        "out": str(job.out),
        "records": survey.records,
        "words": survey.words,
        "entry": release.entry,
        "draft": release.stamp.draft,
        "promise": release.guarantee.loss.sentence(),
        "guarantee": release.guarantee.to_json(),
    }


def check(job: Job, key: bytes, bar: Bar) -> Survey:
    """Read everything once: bad input is found here, before anything is charged."""
    fingerprint, records, words = Fingerprint(key), 0, 0
    reader = job.reader()
    with bar("checking", reader.size, "bytes") as advance:
        seen = 0
        for record in reader:
            records += 1
            fingerprint.update(record.text)
            count = len(tokens.words(record.text))
            words += count
            if job.max_words is not None and count > job.max_words:
                raise BadInput(
                    f"record {records} has more words than the declared cap of {job.max_words}",
                    where=job.source,
                    possible="a larger --max-words, or shorter documents",
                )
            if records % RECORDS_AT_ONCE == 0:
                advance(reader.bytes_read - seen)
                seen = reader.bytes_read
    return Survey(records, words, fingerprint.hexdigest())


def charge(job: Job, key: bytes, survey: Survey) -> str | None:
    """Write the ledger line, before any noise is drawn."""
    if job.ledger is None:
        return None
    ledger = Ledger(job.ledger, key=key)
    if ledger.key != key:  # another process made the file since we looked
        survey = check(job, ledger.key, _no_bar)
    event = job.mechanism.event(_shape(job))
    return ledger.charge(
        event, f"veil {job.source.name}", fingerprint=survey.fingerprint, other_data=job.other_data
    ).id


def _ledger_key(path: Path | None) -> bytes:
    """The key of the ledger, or a new one for a ledger that will only be made if the input is good."""
    return Ledger(path, must_exist=True).key if path is not None and path.exists() else secrets.token_bytes(32)


def _no_bar(title: str, total: float | None, unit: str) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda step: None)


def check_writable(out: Path) -> None:
    """Find out that OUT cannot be made before anything is charged."""
    existing = next(p for p in (out.parent, *out.parent.absolute().parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise BadInput("cannot be written (no permission, or not a folder)", where=existing)


# ---- parts: what is done stays done ------------------------------------------------------------------------------

_NOT_BEGUN = object()


def _plan(job: Job, survey: Survey) -> dict[str, Any]:
    """What makes two runs the same run."""
    status = job.source.stat()
    return {
        "mechanism": job.mechanism.name,
        "parameters": public_parameters(job.mechanism),
        "metric": job.mechanism.metric_id(),
        "records": survey.records,
        "source": [status.st_size, status.st_mtime_ns],
        "ledger": str(job.ledger) if job.ledger else None,
    }


def _begin(unfinished: Path, plan: dict[str, Any], entry: Any) -> None:
    unfinished.mkdir(mode=0o700, parents=True)
    hidden = unfinished / ".plan.tmp"
    hidden.write_text(json.dumps({"plan": plan, "entry": entry}), encoding="utf-8")
    os.replace(hidden, unfinished / "plan.json")


def _resume(unfinished: Path, plan: dict[str, Any]) -> Any:
    """The entry of the unfinished run with this very plan, or _NOT_BEGUN."""
    if not unfinished.exists():
        return _NOT_BEGUN
    try:
        begun = json.loads((unfinished / "plan.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        shutil.rmtree(unfinished)  # it ended before its plan was written: nothing was drawn yet
        return _NOT_BEGUN
    if begun["plan"] != plan:
        raise BadInput(
            "holds the unfinished run of another command",
            where=unfinished,
            possible="repeat that command to finish it, or remove the folder",
        )
    return begun["entry"]


def _draw_parts(job: Job, survey: Survey, unfinished: Path, bar: Bar) -> None:
    reader, noise = job.reader(), source_for(job.mechanism.seed)
    with bar("veiling", survey.words, "words") as advance:
        for number, records in enumerate(_chunks(iter(reader), RECORDS_A_PART)):
            part = unfinished / f"part-{number:06d}"
            if part.exists():
                for _ in records:
                    continue
                continue
            with writers.open_writer(part, like=reader, part=True) as writer:
                for batch in _chunks(records, RECORDS_AT_ONCE):
                    done = list(batch)
                    veiled = job.mechanism.apply([r.text for r in done], noise=noise)
                    for record, text in zip(done, veiled, strict=True):
                        writer.write(replace(record, text))
                    advance(sum(len(tokens.words(t)) for t in veiled))


def _chunks(items: Iterator[Any], size: int) -> Iterator[Iterator[Any]]:
    """Consecutive runs of `size` items; each must be used up before the next."""
    for first in items:
        yield _with_first(first, islice(items, size - 1))


def _with_first(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _settle(job: Job, unfinished: Path, entry: str | None) -> Release:
    reader = job.reader()
    name = readers.data_file_name(reader)
    parts = sorted(unfinished.glob("part-*"))
    writers.concat_parts(parts, unfinished / name, like=reader)
    for part in parts:
        part.unlink()
    release = release_of(job, Payload(unfinished / name, name), entry)
    write_manifest(unfinished, release.manifest(name))
    (unfinished / "plan.json").unlink()
    settle(unfinished, job.out)
    return release


def release_of(job: Job, value: Any, entry: str | None) -> Release:
    """The release with its promise, and the public facts its card shows."""
    mechanism, shape = job.mechanism, _shape(job)
    event = mechanism.event(shape)
    stamp = Stamp.now(
        mechanism.name,
        public_parameters(mechanism),
        draft=mechanism.seed is not None,
        facts={**card_facts(mechanism, shape), **job.facts},
    )
    return Release(value, event, guarantee_of(event), entry, stamp)


def card_facts(mechanism: WordMechanism, shape: Shape) -> dict[str, Any]:
    """Public facts for the card: the document line, the policies, the vectors."""
    worst = float(mechanism.epsilon) * mechanism.diameter()
    facts: dict[str, Any] = {
        "policies": list(mechanism.assumes()),
        "vectors": {
            "name": str(mechanism.vectors_.name),
            "words": len(mechanism.vectors_),
            "fingerprint": mechanism.vectors_.fingerprint,
        },
    }
    facts["document"] = {"epsilon_per_word_worst": worst}
    if shape.max_words is not None:
        facts["document"] |= {"max_words": shape.max_words, "loss": worst * shape.max_words}
    return facts


def public_parameters(mechanism: WordMechanism) -> dict[str, Any]:
    """Constructor arguments as JSON values. Kept words are public by choice: they are listed as not protected."""
    shown = mechanism.get_params()
    shown["vectors"] = "default" if mechanism.vectors is None else str(getattr(mechanism.vectors, "name", mechanism.vectors))
    shown["keep"] = sorted(mechanism.kept_)
    if isinstance(mechanism, BRR):
        shown["bits"] = mechanism.codes_.bits
    if mechanism.seed is not None:
        shown["seed"] = int(mechanism.seed)
    return shown


def read_keep_list(path: Path) -> list[str]:
    """One word a line."""
    try:
        found = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError:
        raise BadInput("does not exist", where=path) from None
    except (OSError, UnicodeDecodeError):
        raise BadInput("cannot be read as UTF-8 text", where=path) from None
    if not found:
        raise BadInput("holds no words", where=path, possible="one word a line")
    return found


def _shape(job: Job) -> Shape:
    return Shape(max_words=job.max_words)
