"""The journey of a file: read, check, charge, draw, write, card.

    check     one pass over the whole file draws no noise: what it finds charges nothing
    charge    the ledger line is on disk before the first draw
    draw      an engine veils the texts part by part; the parts wait in a hidden folder beside OUT
    settle    the parts become data.*, with release.json and card.html, and the folder takes its name

A run that is stopped leaves the hidden folder; the same command takes it up again, keeps the finished parts and is not
charged again: each record is released once. A run that fails removes it, and keeps its charge.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from textveil.accounting import guarantee_of
from textveil.accounting.ledger import Ledger
from textveil.core import BadInput, Payload, Release, Shape, Stamp
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import positive_integer
from textveil.core.release import check_free, write_manifest
from textveil.recipes.charging import ledger_key
from textveil.recipes.engines import Engine, Part, WorkersDied, open_engine
from textveil.recipes.unfinished import NOT_BEGUN, Unfinished, cut_into_parts
from textveil.text import readers, tokens
from textveil.text.documents import replace
from textveil.words.brr import BRR
from textveil.words.mechanism import WordMechanism

Bar = Callable[[str, float | None, str], AbstractContextManager[Callable[[float], None]]]

RECORDS_A_STEP = 500  # of the progress bar


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
    engine: str = "local"
    workers: int = 1
    address: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def opener(self) -> Callable[[], readers.Reader]:
        """Opens the input; it can be sent to another process of this machine."""
        return partial(
            readers.open_reader,
            self.source.absolute(),
            format=self.format,
            text_field=self.text_field,
            max_line_bytes=self.max_line_bytes,
        )

    def reader(self) -> readers.Reader:
        return readers.open_reader(
            self.source, format=self.format, text_field=self.text_field, max_line_bytes=self.max_line_bytes
        )


@dataclass(frozen=True)
class Survey:
    """What the checking pass found. Private: only the fingerprint is kept, in the ledger, under its key."""

    records: int
    fingerprint: str


def veil_file(job: Job, *, bar: Bar) -> dict[str, Any]:
    """Veil a file into a release folder and return what to print."""
    if job.max_words is not None:
        positive_integer("max-words", job.max_words)
    job.mechanism.fit()
    check_free(job.out)
    check_writable(job.out)
    # Workers start up while the file is checked; they get no text before the charge is on disk.
    with open_engine(job.mechanism, engine=job.engine, workers=job.workers, address=job.address) as engine:
        key = ledger_key(job.ledger)
        survey = check(job, key, bar)
        unfinished, plan = Unfinished(job.out, job.reader()), _plan(job, survey)
        entry = unfinished.resume(plan)
        if entry is NOT_BEGUN:
            entry = charge(job, key, survey)
            unfinished.begin(plan, entry)
        try:
            parts, words = draw_parts(job, unfinished, engine, bar)
            if _state_of(job) != plan["source"]:
                raise BadInput("changed while it was read", where=job.source)
            release = _settle(job, unfinished, parts, entry)
        except (KeyboardInterrupt, WorkersDied):
            raise  # what is done stays, for the next run
        except OSError as error:
            unfinished.remove()
            raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=job.out) from None
        except BaseException:
            unfinished.remove()
            raise
    return {
        "out": str(job.out),
        "records": survey.records,
        "words": words,
        "entry": release.entry,
        "draft": release.stamp.draft,
        "promise": release.guarantee.loss.sentence(),
        "guarantee": release.guarantee.to_json(),
    }


def check(job: Job, key: bytes, bar: Bar) -> Survey:
    """Read everything once: bad input is found here, before anything is charged."""
    fingerprint, records = Fingerprint(key), 0
    reader = job.reader()
    with bar("checking", reader.size, "bytes") as advance:
        seen = 0
        for record in reader:
            records += 1
            fingerprint.update(record.text)
            if job.max_words is not None and len(tokens.words(record.text)) > job.max_words:
                raise BadInput(
                    f"record {records} has more words than the declared cap of {job.max_words}",
                    where=job.source,
                    possible="a larger --max-words, or shorter documents",
                )
            if records % RECORDS_A_STEP == 0:
                advance(reader.bytes_read - seen)
                seen = reader.bytes_read
    return Survey(records, fingerprint.hexdigest())


def charge(job: Job, key: bytes, survey: Survey) -> str | None:
    """Write the ledger line, before any noise is drawn."""
    if job.ledger is None:
        return None
    ledger = Ledger(job.ledger, key=key)
    if ledger.key != key:  # another process made the file since we looked
        survey = check(job, ledger.key, _no_bar)
    event = job.mechanism.event(_shape(job))
    return ledger.charge(event, f"veil {job.source.name}", fingerprint=survey.fingerprint, other_data=job.other_data).id


def _no_bar(title: str, total: float | None, unit: str) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda step: None)


def check_writable(out: Path) -> None:
    """Find out that OUT cannot be made before anything is charged."""
    existing = next(p for p in (out.parent, *out.parent.absolute().parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise BadInput("cannot be written (no permission, or not a folder)", where=existing)


def _plan(job: Job, survey: Survey) -> dict[str, Any]:
    """What makes two runs the same run. Engine and workers are not part of it: they change nothing but the time."""
    return {
        "mechanism": job.mechanism.name,
        "parameters": public_parameters(job.mechanism),
        "seed": job.mechanism.seed,  # the folder of an unfinished run is private, and this file leaves it at the end
        "metric": job.mechanism.metric_id(),
        "records": survey.records,
        "source": _state_of(job),
        "ledger": str(job.ledger) if job.ledger else None,
    }


def _state_of(job: Job) -> list[list[int]]:
    """Tells a file that was written to from one that was not."""
    return [[s.st_size, s.st_mtime_ns] for s in (path.stat() for path in job.reader().paths)]


# ---- draw and settle ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextParts:
    """The texts still to be veiled, part by part. It can be sent to another process, which reads the file itself."""

    open: Callable[[], readers.Reader]
    done: frozenset[int]

    def __iter__(self) -> Iterator[Part]:
        for number, records in cut_into_parts(self.open()):
            if number not in self.done:
                yield Part(number, [record.text for record in records])


def draw_parts(job: Job, unfinished: Unfinished, engine: Engine, bar: Bar) -> tuple[int, int]:
    """Veil what is not done yet, and return how many parts and words there are.

    The texts go through the engine; the rows they belong to are read a second time here, and never leave this process.
    """
    reader, done = job.reader(), unfinished.finished()
    veiled = engine.veil(TextParts(job.opener, done))
    parts = words = seen = 0
    with bar("veiling", reader.size, "bytes") as advance:
        for number, records in cut_into_parts(reader):
            if number in done:
                words += sum(len(tokens.words(record.text)) for record in records)
            else:
                part = next(veiled, None)
                if part is None or (part.number, len(part.texts)) != (number, len(records)):
                    raise BadInput("changed while it was read", where=job.source)
                unfinished.write(number, map(replace, records, part.texts))
                words += part.words
            advance(reader.bytes_read - seen)
            parts, seen = number + 1, reader.bytes_read
    return parts, words


def _settle(job: Job, unfinished: Unfinished, parts: int, entry: str | None) -> Release:
    data = unfinished.put_together(parts)
    release = release_of(job, Payload(data, data.name), entry)
    write_manifest(unfinished.folder, release.manifest(data.name))
    unfinished.settle(job.out)
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
    shown["vectors"] = (
        "default" if mechanism.vectors is None else str(getattr(mechanism.vectors, "name", mechanism.vectors))
    )
    shown["keep"] = sorted(mechanism.kept_)
    if isinstance(mechanism, BRR):
        shown["bits"] = mechanism.codes_.bits
    shown["seed"] = None  # never written down: with it anyone could undo the noise of a draft
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
