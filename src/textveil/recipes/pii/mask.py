"""The journey of a masked file: find in everything, charge, replace, count what was left, release.

    find     the whole file is read once: bad input costs nothing, recognised places are kept in the work folder (offsets
             only), recognised values in memory (and nowhere else), to count those that stand unmasked elsewhere
    charge   an unpriced line: masking promises nothing
    mask     the file is read again and written with every recognised place replaced

Memory holds a batch of records, the recognised values and the map of people; never the file. A run that is stopped is
begun anew by the same command, and not charged again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput, Shape
from textveil.core.facts import Facts
from textveil.core.fingerprint import Fingerprint
from textveil.core.mechanism import passes_of
from textveil.pii.mask import Mask, OperatorFor, drawn_key
from textveil.pii.masking.operators import Place
from textveil.pii.masking.people import People
from textveil.pii.masking.pseudonyms import note_people
from textveil.pii.masking.repeats import RepeatCounter
from textveil.pii.masking.texts import mask_text
from textveil.pii.masking.vault import MapWriter
from textveil.pii.recognisers import Recognisers
from textveil.recipes.pii.find import batches
from textveil.recipes.pii.given_spans import GivenSpans
from textveil.recipes.pii.mask_card import mask_facts
from textveil.recipes.pii.mask_secrets import MaskSecrets
from textveil.recipes.pii.recall import MeasuredRecall, measure_recall
from textveil.recipes.pii.recogniser_choice import RecogniserChoice
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.text import readers, writers
from textveil.text.documents import Record, replace
from textveil.text.spans import Span

SPOOL = "spans.jsonl"


@dataclass(frozen=True)
class MaskJob(readers.FileOptions):
    """One file to mask."""

    source: Path
    out: Path
    choice: RecogniserChoice = field(default_factory=RecogniserChoice)
    how: str = "tag"
    key_file: Path | None = None
    map: Path | None = None  # encrypted: people with their pseudonyms, and what stood in the place of every mask
    person_field: str | None = None  # whom a document is about: keeps people of one name apart, and dates together
    numbers: str = "invalid"
    shift_days: int = 365
    spans: Path | None = None  # of these documents, by id: used instead of recognisers, or beside them
    reviewed: Path | None = None  # a sample with marks that a person has looked through
    columns: tuple[str, ...] | None = None
    seed: int | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False

    def reader(self) -> readers.Reader:
        fields = (
            *(() if self.person_field is None else (self.person_field,)),
            *(() if self.spans is None else ("id",)),
        )
        return readers.open_reader(self.source, columns=self.columns, fields=fields, **self.reading())

    def place(self, number: int, record: Record) -> Place:
        """Where the values of a record stand."""
        value = None if self.person_field is None else record.fields.get(self.person_field)
        return Place(number, None if value is None else str(value))


@dataclass
class FoundValues:
    """What the first pass leaves in memory: counts, recognised values, people."""

    people: People
    values: RepeatCounter = field(default_factory=RepeatCounter)
    records: int = 0
    masks: Counter[str] = field(default_factory=Counter)
    repeats: int = 0  # recognised values that stand unmasked elsewhere


def mask_file(job: MaskJob, *, bar: Bar) -> dict[str, Any]:
    """Mask a file into a release folder and return what to print."""
    secrets = MaskSecrets.open(job)
    recogniser = open_recogniser(job)
    mechanism = Mask(recogniser, job.how, recogniser.labels, job.shift_days, job.numbers, job.seed)
    mechanism.fit()
    recall = None if job.reviewed is None else measure_recall(recogniser, job.reviewed)
    with publish_job(job, f"pii mask {job.source.name}", seed=job.seed) as publication:
        reader, fingerprint, noted = job.reader(), publication.account.fingerprint(), FoundValues(secrets.people())
        _find(job, publication, reader, recogniser, fingerprint, noted, bar)
        paid = publication.account.charge(
            mechanism.event(Shape()), data=fingerprint.hexdigest(), binding=_binding(job, publication, reader, noted)
        )
        noise = paid.noise()
        key, map_id = secrets.key or drawn_key(noise), noise.words(1).tobytes().hex()
        with secrets.writer(key, map_id) as log:
            data = _mask(job, publication, reader, mechanism.operators(key, noted.people), log, noted, bar)
            release = publication.finish(
                paid,
                mechanism.name,
                {**mechanism.public_params(), **_public_facts(job, map_id)},
                data,
                passes=(*passes_of(mechanism), *reader.passes, *_recall_passes(recall)),
                facts=_facts(job, publication, reader, recogniser, noted, recall),
            )
    result = publication.result(release)
    return {
        **result,
        "notices": [*result["notices"], *secrets.notices],
        "records": noted.records,
        "masks": noted.masks.total(),
        "labels": dict(noted.masks.most_common()),
        "repeats": noted.repeats,
        "people": len(noted.people) if job.how == "pseudonym" else None,
        "recall": None if recall is None else recall.to_json(),
    }


def open_recogniser(job: MaskJob) -> Recognisers:
    """The recognisers of a job; spans of a file stand in for them, or beside those that are named."""
    if job.spans is None:
        return job.choice.open()
    given = GivenSpans(job.spans)
    if not job.choice.models:
        return Recognisers([given], job.choice.labels or None)
    named = job.choice.open()
    return Recognisers([*named.finders, given])


def _public_facts(job: MaskJob, map_id: str) -> dict[str, Any]:
    return {
        "policy": job.choice.policy,
        "key": "file" if job.key_file else "forgotten",
        "map": map_id if job.map else None,
        "person_field": job.person_field,
    }


def _binding(job: MaskJob, publication: Publication, reader: readers.Reader, noted: FoundValues) -> dict[str, Any]:
    """What makes two runs the same run."""
    return publication.bound(
        source=reader.binding(),
        how=job.how,
        models=list(job.choice.models),
        policy=job.choice.policy,
        records=noted.records,
    )


# ---- the two passes -------------------------------------------------------------------------------------------------


def _find(
    job: MaskJob,
    publication: Publication,
    reader: readers.Reader,
    recogniser: Recognisers,
    fingerprint: Fingerprint,
    noted: FoundValues,
    bar: Bar,
) -> None:
    """Read everything once; offsets go to the work folder, values and people into memory."""
    bytes_told = 0
    with bar("finding", reader.size, "bytes") as advance, open(publication.work(SPOOL), "w", encoding="utf-8") as spool:
        for batch in batches(reader, _size):
            texts = [record.text for record in batch]
            for record, spans in zip(batch, _spans_in(recogniser, batch, texts), strict=True):
                noted.records += 1
                fingerprint.update(record.text)
                noted.values.add(record.text, spans)
                noted.masks.update(span.label for span in spans)
                if job.how == "pseudonym":
                    note_people(noted.people, record.text, spans, job.place(noted.records, record))
                spool.write(json.dumps([[s.start, s.end, s.label, s.score] for s in spans]) + "\n")
            advance(reader.bytes_read - bytes_told)
            bytes_told = reader.bytes_read
    for finder in recogniser.finders:
        if isinstance(finder, GivenSpans):
            finder.check_all_used()


def _spans_in(recogniser: Recognisers, batch: list[Record], texts: list[str]) -> list[list[Span]]:
    for finder in recogniser.finders:
        if isinstance(finder, GivenSpans):
            finder.names = [str(record.fields.get("id")) for record in batch]
    return recogniser.find(texts)


def _size(record: Record) -> int:
    return len(record.text)


def _spans(publication: Publication) -> Iterator[list[Span]]:
    with open(publication.work(SPOOL), encoding="utf-8") as spool:
        for line in spool:
            yield [Span(*kept) for kept in json.loads(line)]


def _mask(
    job: MaskJob,
    publication: Publication,
    reader: readers.Reader,
    operator_for: OperatorFor,
    log: MapWriter | None,
    noted: FoundValues,
    bar: Bar,
) -> str:
    """Write the masked file where it leaves from, and return its name; the map gets its name right before."""
    name, bytes_told, number = readers.data_file_name(reader), 0, 0
    with (
        bar("masking", reader.size, "bytes") as advance,
        writers.open_writer(publication.file(name), like=reader) as writer,
    ):
        for number, (record, spans) in enumerate(zip(reader, _spans(publication), strict=False), 1):
            if spans and spans[-1].end > len(record.text):
                break
            place = job.place(number, record)
            masked = mask_text(record.text, spans, operator_for(record.text, spans, place), place)
            noted.repeats += noted.values.count(record.text, spans)
            writer.write(replace(record, masked.text))
            if log is not None:
                log.add(masked)
            if number % 500 == 0:
                advance(reader.bytes_read - bytes_told)
                bytes_told = reader.bytes_read
        if number != noted.records or writer.records_written != number:
            raise BadInput("changed while it was read", where=reader.path)
    if log is not None:
        log.finish(noted.people)
    return name


# ---- what the card says ---------------------------------------------------------------------------------------------


def _recall_passes(recall: MeasuredRecall | None) -> tuple[str, ...]:
    return () if recall is None else (f"the recall that was measured on {recall.file}",)


def _facts(
    job: MaskJob,
    publication: Publication,
    reader: readers.Reader,
    recogniser: Recognisers,
    noted: FoundValues,
    recall: MeasuredRecall | None,
) -> Facts:
    data = publication.data_facts(job.source, text_field=reader.written_text_field, records=noted.records)
    return mask_facts(
        data, job.how, recogniser, noted.masks, noted.repeats, recall, job.choice.policy_lines(recogniser),
        keeps_key=job.key_file is not None, more=pseudonym_lines(job) if job.how == "pseudonym" else (),
    )  # fmt: skip


def pseudonym_lines(job: MaskJob) -> tuple[str, ...]:
    """The policies of pseudonyms, for the card."""
    apart = (
        "the same given and family name was taken for one person in all documents: two people with one name share a pseudonym"
        if job.person_field is None
        else f"people of one name were kept apart by the field '{job.person_field}'"
    )
    whose = "document" if job.person_field is None else f"value of '{job.person_field}'"
    return (
        apart,
        "a shorter form of a name was taken for the person of the same document that it fits, else for the only one of all",
        f"dates moved by a secret number of days, at most {job.shift_days} either way, the same for each {whose}: days "
        "between dates are as they were",
        f"numbers have the same form and checksums that are {job.numbers}",
        "pronouns and other words that tell a gender stand as they were",
    )


__all__ = ["MaskJob", "mask_file"]
