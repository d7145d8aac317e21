"""The journey of a veiled file: survey, charge, draw part by part, join.

The survey reads the whole file once and draws nothing: whatever is wrong with the file is found there and costs nothing.
Texts go through an engine (this process, several, or Ray); the rows they belong to are read a second time here and never
leave this process. As many records are written as were surveyed, or nothing is released.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from textveil.accounting.account import PartNoise
from textveil.core import BadInput, Event, Shape
from textveil.core.facts import DocumentLine, Facts, VectorsUsed
from textveil.core.fingerprint import Fingerprint
from textveil.core.mechanism import passes_of
from textveil.core.params import positive_integer
from textveil.recipes.parts import Parts, cut_into_parts
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.read_again import remember
from textveil.recipes.words.coverage import Coverage
from textveil.recipes.words.engines import Engine, TextPart, open_engine
from textveil.recipes.words.near import near_words
from textveil.text import readers, tokens
from textveil.text.documents import replace
from textveil.words.mechanism import WordMechanism

RECORDS_A_STEP = 500  # of the progress bar


class TextMask(Protocol):
    """Covers parts of texts before they are veiled: see recipes/pii/veil_mask.py, which has the only one."""

    def check(self) -> None: ...

    def cut(self, texts: Sequence[str]) -> list[str]: ...

    def restore(self, texts: Sequence[str]) -> list[str]: ...

    def public_params(self) -> dict[str, list[str]]: ...

    @property
    def making(self) -> tuple[str, ...]: ...

    @property
    def not_protected(self) -> tuple[str, ...]: ...

    @property
    def assumes(self) -> str: ...

    @property
    def passes(self) -> str: ...


@dataclass(frozen=True)
class VeilJob(readers.FileOptions):
    """One file to veil."""

    source: Path
    out: Path
    mechanism: WordMechanism
    columns: tuple[str, ...] | None = None  # that leave with the text: None all, () none
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    max_words: int | None = None
    max_line_bytes: int = readers.DEFAULT_MAX_LINE
    engine: str = "local"
    workers: int = 1
    address: str | None = None
    mask: TextMask | None = None  # covers personal data before words are drawn (recipes/pii/veil_mask.py)

    @property
    def opener(self) -> Callable[[], readers.Reader]:
        """Opens the input; it can be sent to another process of this machine."""
        return partial(
            readers.open_reader,
            self.source.absolute(),
            columns=self.columns,
            max_line_bytes=self.max_line_bytes,
            **self.reading(),
        )

    @property
    def shape(self) -> Shape:
        return Shape(max_words=self.max_words)


def veil_file(
    job: VeilJob,
    *,
    bar: Bar,
    tell: Callable[[Coverage], None] = lambda coverage: None,
    foresee: Callable[[int, Engine], None] = lambda records, engine: None,
) -> dict[str, Any]:
    """Veil a file into a release folder and return what to print.

    Once the file is surveyed and before anything is charged, `tell` hears what the vectors cover of it, which is private, and
    `foresee` the number of records, with the engine that can be asked about the mechanism.
    """
    if job.max_words is not None:
        positive_integer("max-words", job.max_words)
    if job.mask is not None:
        job.mask.check()
    mechanism = job.mechanism.fit()
    # Workers start up while the file is surveyed; they get no text before the charge is on disk.
    with (
        publish_job(job, f"veil {job.source.name}", seed=mechanism.seed) as publication,
        open_engine(mechanism, engine=job.engine, workers=job.workers, address=job.address) as engine,
    ):
        reader, fingerprint = job.opener(), publication.account.fingerprint()
        reader.check_words(mechanism.words_written())
        coverage = Coverage(mechanism)
        records = survey(job, reader, fingerprint, bar, coverage)
        tell(coverage)
        foresee(records, engine)
        binding = _binding(job, publication, reader, records)
        paid = publication.account.charge(_event(job), data=fingerprint.hexdigest(), binding=binding)
        parts = Parts(publication, reader)
        drawn = veil_parts(job, reader, parts, engine, paid.parts(), bar)
        if drawn.records != records or reader.state() != binding["state"]:
            raise BadInput("changed while it was read", where=job.source)
        release = publication.finish(
            paid,
            mechanism.name,
            _parameters(job),
            parts.put_together(drawn.parts),
            passes=(*(() if job.mask is None else (job.mask.passes,)), *passes_of(mechanism), *reader.passes),
            facts=_facts(job, publication, reader, drawn),
        )
    return {**publication.result(release), "records": records, "words": drawn.words}


def survey(job: VeilJob, reader: readers.Reader, fingerprint: Fingerprint, bar: Bar, coverage: Coverage) -> int:
    """Read everything once and return the number of records: bad input is found here, before anything is charged."""
    records = bytes_told = 0
    with bar("checking", reader.size, "bytes") as advance:
        for record in reader:
            records += 1
            fingerprint.update(record.text)
            coverage.add(record.text)
            if job.max_words is not None and len(tokens.words(record.text)) > job.max_words:
                raise BadInput(
                    f"record {records} has more words than the declared cap of {job.max_words}",
                    where=job.source,
                    possible="a larger --max-words, or shorter documents",
                )
            if records % RECORDS_A_STEP == 0:
                advance(reader.bytes_read - bytes_told)
                bytes_told = reader.bytes_read
    return records


def _binding(job: VeilJob, publication: Publication, reader: readers.Reader, records: int) -> dict[str, Any]:
    """What makes two runs the same run. Engine and workers are not part of it: they change nothing but the time."""
    return publication.bound(
        mechanism=job.mechanism.name,
        parameters=_parameters(job),
        metric=job.mechanism.space()[1],
        source=reader.binding(),
        state=reader.state(),
        max_words=job.max_words,
        records=records,
    )


def _event(job: VeilJob) -> Event:
    """What is charged; under masks the promise holds between texts that are masked alike."""
    event = job.mechanism.event(job.shape)
    return event if job.mask is None else dataclasses.replace(event, assumes=(*event.assumes, job.mask.assumes))


def _parameters(job: VeilJob) -> dict[str, Any]:
    shown = job.mechanism.public_params()
    return shown if job.mask is None else {**shown, "mask": job.mask.public_params()}


# ---- draw -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextParts:
    """The texts still to be veiled, part by part. It can be sent to another process, which reads the file itself."""

    open: Callable[[], readers.Reader]
    finished: frozenset[int]
    mask: TextMask | None = None

    def __iter__(self) -> Iterator[TextPart]:
        for number, records in cut_into_parts(self.open()):
            if number not in self.finished:
                texts = [record.text for record in records]
                yield TextPart(number, texts if self.mask is None else self.mask.cut(texts))


def veil_parts(job: VeilJob, reader: readers.Reader, parts: Parts, engine: Engine, noise: PartNoise, bar: Bar) -> Drawn:
    """Veil what is not done yet, and count parts, records and words of all of it."""
    finished = parts.finished()
    veiled = engine.veil(TextParts(job.opener, finished, job.mask), noise)
    count = records_read = words = bytes_told = 0
    with bar("veiling", reader.size, "bytes") as advance:
        for number, records in cut_into_parts(reader):
            if number in finished:
                texts = [record.text for record in records]
                words += sum(len(tokens.words(t)) for t in (texts if job.mask is None else job.mask.cut(texts)))
            else:
                part = next(veiled, None)
                if part is None or (part.number, len(part.texts)) != (number, len(records)):
                    raise BadInput("changed while it was read", where=job.source)
                texts = part.texts if job.mask is None else job.mask.restore(part.texts)
                parts.write(number, map(replace, records, texts))
                words += part.words
            advance(reader.bytes_read - bytes_told)
            count, bytes_told = number + 1, reader.bytes_read
            records_read += len(records)
    return Drawn(count, records_read, words)


class Drawn(NamedTuple):
    """How much was veiled."""

    parts: int
    records: int
    words: int


def _facts(job: VeilJob, publication: Publication, reader: readers.Reader, drawn: Drawn) -> Facts:
    """What the card says beside the promise: numbers of records and words show in the output anyway."""
    mechanism, vectors = job.mechanism, job.mechanism.vectors_
    field = reader.written_text_field
    memory = {**remember(text_field=reader.text_field), **reader.dialect()}
    return Facts(
        data=publication.data_facts(
            job.source, text_field=field, records=drawn.records, words=drawn.words, reading=memory
        ),
        document=DocumentLine(float(mechanism.epsilon) * mechanism.space()[2], job.max_words),
        vectors=VectorsUsed(
            str(vectors.name), len(vectors), vectors.fingerprint, vectors.language, *near_words(mechanism)
        ),
        making=() if job.mask is None else job.mask.making,
        not_protected=() if job.mask is None else job.mask.not_protected,
    )
