"""The journey of a masked file: survey, charge, find part by part, replace, count what was left, release.

    survey   the whole file is read once: bad input costs nothing
    charge   an unpriced line: masking promises nothing
    find     recognisers look at one part after the other; places are kept in the work folder (offsets only), recognised
             values in memory (and nowhere else), to count those that stand unmasked elsewhere
    mask     the file is read again and written with every recognised place replaced

Memory holds a part of the records, the recognised values and the map of people; never the file. A run that is stopped is
taken up by the same command and not charged again: parts that were looked through are not looked through again. What was
replaced is replaced anew, since a key that is drawn and forgotten is drawn anew.
"""

from __future__ import annotations

from collections import Counter
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
from textveil.recipes.pii.found_places import FoundPlaces
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

RECORDS_A_STEP = 500  # of the progress bar


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
    state: Any = None  # of the input's files, when they were surveyed
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
        records = _survey(reader, recogniser, fingerprint, bar)
        binding = _binding(job, publication, reader, records, mechanism)
        paid = publication.account.charge(mechanism.event(Shape()), data=fingerprint.hexdigest(), binding=binding)
        places, noted.state = FoundPlaces(publication), binding["state"]
        _find(job, places, reader, recogniser, noted, bar)
        noise = paid.noise()
        key, map_id = secrets.key or drawn_key(noise), noise.words(1).tobytes().hex()
        with secrets.writer(key, map_id) as log:
            data = _mask(job, places, reader, mechanism.operators(key, noted.people), log, noted, bar)
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


def _binding(
    job: MaskJob, publication: Publication, reader: readers.Reader, records: int, mechanism: Mask
) -> dict[str, Any]:
    """What makes two runs the same run: whatever changes which places are found."""
    return publication.bound(
        source=reader.binding(),
        state=reader.state(),
        mechanism=mechanism.public_params(),
        models=[_file_states(Path(name)) or name for name in job.choice.models],
        spans=None if job.spans is None else _file_states(job.spans),
        policy=job.choice.policy,
        thresholds=job.choice.thresholds,
        records=records,
    )


def _file_states(path: Path) -> list[list[Any]]:
    """Names, sizes and times of a file, or of a folder's files, to notice that they changed."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [p for p in (path,) if p.is_file()]
    return [[str(p.absolute()), p.stat().st_size, p.stat().st_mtime_ns] for p in files]


# ---- the passes -----------------------------------------------------------------------------------------------------


def _survey(reader: readers.Reader, recogniser: Recognisers, fingerprint: Fingerprint, bar: Bar) -> int:
    """Read everything once and return the number of records; spans by id are compared with the documents."""
    given, records, bytes_told = _given_spans(recogniser), 0, 0
    with bar("checking", reader.size, "bytes") as advance:
        for batch in batches(reader, _size):
            records += len(batch)
            for record in batch:
                fingerprint.update(record.text)
            for finder in given:
                _give_names([finder], batch)
                finder.find([record.text for record in batch])
            advance(reader.bytes_read - bytes_told)
            bytes_told = reader.bytes_read
    for finder in given:
        finder.check_all_used()
    return records


def _find(
    job: MaskJob, places: FoundPlaces, reader: readers.Reader, recogniser: Recognisers, noted: FoundValues, bar: Bar
) -> None:
    """Look at every part; places go to the work folder, values and people into memory."""
    given, bytes_told = _given_spans(recogniser), 0

    def find(records: list[Record]) -> list[list[Span]]:
        found: list[list[Span]] = []
        for batch in batches(records, _size):
            _give_names(given, batch)
            found += recogniser.find([record.text for record in batch])
        return found

    with bar("finding", reader.size, "bytes") as advance:
        for record, spans in places.look(reader, find):
            noted.records += 1
            noted.values.add(record.text, spans)
            noted.masks.update(span.label for span in spans)
            if job.how == "pseudonym":
                note_people(noted.people, record.text, spans, job.place(noted.records, record))
            if noted.records % RECORDS_A_STEP == 0:
                advance(reader.bytes_read - bytes_told)
                bytes_told = reader.bytes_read


def _given_spans(recogniser: Recognisers) -> list[GivenSpans]:
    return [finder for finder in recogniser.finders if isinstance(finder, GivenSpans)]


def _give_names(given: list[GivenSpans], batch: list[Record]) -> None:
    for finder in given:
        finder.names = [str(record.fields.get("id")) for record in batch]


def _size(record: Record) -> int:
    return len(record.text)


def _mask(
    job: MaskJob,
    places: FoundPlaces,
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
        writers.open_writer(places.publication.file(name), like=reader) as writer,
    ):
        for number, (record, spans) in enumerate(places(reader), 1):
            if spans and spans[-1].end > len(record.text):
                break
            place = job.place(number, record)
            masked = mask_text(record.text, spans, operator_for(record.text, spans, place), place)
            noted.repeats += noted.values.count(record.text, spans)
            writer.write(replace(record, masked.text))
            if log is not None:
                log.add(masked)
            if number % RECORDS_A_STEP == 0:
                advance(reader.bytes_read - bytes_told)
                bytes_told = reader.bytes_read
        if number != noted.records or writer.records_written != number or reader.state() != noted.state:
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
