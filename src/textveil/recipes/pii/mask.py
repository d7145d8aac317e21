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
from textveil.pii.mask import Mask, drawn_key
from textveil.pii.masking.keys import MaskKey, require_key
from textveil.pii.masking.operators import Operator, Place
from textveil.pii.masking.repeats import RepeatCounter
from textveil.pii.masking.texts import mask_text
from textveil.pii.recognisers import Recognisers
from textveil.recipes.pii.find import batches
from textveil.recipes.pii.mask_card import mask_facts
from textveil.recipes.pii.recall import MeasuredRecall, measure_recall
from textveil.recipes.pii.recogniser_choice import RecogniserChoice
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.text import readers, writers
from textveil.text.documents import Record, replace
from textveil.text.spans import Span

SPOOL = "spans.jsonl"


@dataclass(frozen=True)
class MaskJob:
    """One file to mask."""

    source: Path
    out: Path
    choice: RecogniserChoice = field(default_factory=RecogniserChoice)
    how: str = "tag"
    key_file: Path | None = None
    reviewed: Path | None = None  # a sample with marks that a person has looked through
    text_field: str | None = None
    format: str | None = None
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    nulls: str = "keep"
    seed: int | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False

    def reader(self) -> readers.Reader:
        return readers.open_reader(
            self.source, format=self.format, text_field=self.text_field, columns=self.columns, header=self.header,
            nulls=self.nulls,
        )  # fmt: skip


@dataclass
class MaskCounts:
    """What was found and done."""

    records: int = 0
    masks: Counter[str] = field(default_factory=Counter)
    repeats: int = 0  # recognised values that stand unmasked elsewhere


def mask_file(job: MaskJob, *, bar: Bar) -> dict[str, Any]:
    """Mask a file into a release folder and return what to print."""
    _check_job(job)
    recogniser = job.choice.open()
    mechanism = Mask(recogniser, job.how, recogniser.labels, job.seed)
    mechanism.fit()
    recall = None if job.reviewed is None else measure_recall(recogniser, job.reviewed)
    with publish_job(job, f"pii mask {job.source.name}", seed=job.seed) as publication:
        reader, fingerprint = job.reader(), publication.account.fingerprint()
        counter, counts = RepeatCounter(), MaskCounts()
        _find(publication, reader, recogniser, fingerprint, counter, counts, bar)
        paid = publication.account.charge(
            mechanism.event(Shape()), data=fingerprint.hexdigest(), binding=_binding(job, publication, reader, counts)
        )
        key = _key(job, paid.noise())
        data = _mask(publication, reader, mechanism.operator(key), counter, counts, bar)
        release = publication.finish(
            paid,
            mechanism.name,
            {**mechanism.public_params(), "policy": job.choice.policy, "key": "file" if job.key_file else "forgotten"},
            data,
            passes=(*passes_of(mechanism), *reader.passes, *_recall_passes(recall)),
            facts=_facts(job, publication, reader, recogniser, counts, recall),
        )
    return {
        **publication.result(release),
        "records": counts.records,
        "masks": counts.masks.total(),
        "labels": dict(counts.masks.most_common()),
        "repeats": counts.repeats,
        "recall": None if recall is None else recall.to_json(),
    }


def _check_job(job: MaskJob) -> None:
    if job.key_file is not None and job.seed is not None:
        raise BadInput("--seed and --key-file exclude each other", possible="one of them")


def _key(job: MaskJob, noise: Any) -> MaskKey:
    return drawn_key(noise) if job.key_file is None else require_key(job.key_file, make=True)[0]


def _binding(job: MaskJob, publication: Publication, reader: readers.Reader, counts: MaskCounts) -> dict[str, Any]:
    """What makes two runs the same run."""
    return publication.bound(
        source=reader.binding(),
        how=job.how,
        models=list(job.choice.models),
        policy=job.choice.policy,
        records=counts.records,
    )


# ---- the two passes -------------------------------------------------------------------------------------------------


def _find(
    publication: Publication,
    reader: readers.Reader,
    recogniser: Recognisers,
    fingerprint: Fingerprint,
    counter: RepeatCounter,
    counts: MaskCounts,
    bar: Bar,
) -> None:
    """Read everything once; offsets go to the work folder, values to the counter."""
    bytes_told = 0
    with bar("finding", reader.size, "bytes") as advance, open(publication.work(SPOOL), "w", encoding="utf-8") as spool:
        for batch in batches(reader, _size):
            texts = [record.text for record in batch]
            for text, spans in zip(texts, recogniser.find(texts), strict=True):
                fingerprint.update(text)
                counter.add(text, spans)
                counts.masks.update(span.label for span in spans)
                spool.write(json.dumps([[s.start, s.end, s.label, s.score] for s in spans]) + "\n")
            counts.records += len(batch)
            advance(reader.bytes_read - bytes_told)
            bytes_told = reader.bytes_read


def _size(record: Record) -> int:
    return len(record.text)


def _spans(publication: Publication) -> Iterator[list[Span]]:
    with open(publication.work(SPOOL), encoding="utf-8") as spool:
        for line in spool:
            yield [Span(*kept) for kept in json.loads(line)]


def _mask(
    publication: Publication,
    reader: readers.Reader,
    operator: Operator,
    counter: RepeatCounter,
    counts: MaskCounts,
    bar: Bar,
) -> str:
    """Write the masked file where it leaves from, and return its name."""
    name, bytes_told, number = readers.data_file_name(reader), 0, 0
    with (
        bar("masking", reader.size, "bytes") as advance,
        writers.open_writer(publication.file(name), like=reader) as writer,
    ):
        for number, (record, spans) in enumerate(zip(reader, _spans(publication), strict=False), 1):
            if spans and spans[-1].end > len(record.text):
                break
            masked = mask_text(record.text, spans, operator, Place(number))
            counts.repeats += counter.count(record.text, spans)
            writer.write(replace(record, masked.text))
            if number % 500 == 0:
                advance(reader.bytes_read - bytes_told)
                bytes_told = reader.bytes_read
        if number != counts.records or writer.records_written != number:
            raise BadInput("changed while it was read", where=reader.path)
    return name


# ---- what the card says ---------------------------------------------------------------------------------------------


def _recall_passes(recall: MeasuredRecall | None) -> tuple[str, ...]:
    return () if recall is None else (f"the recall that was measured on {recall.file}",)


def _facts(
    job: MaskJob,
    publication: Publication,
    reader: readers.Reader,
    recogniser: Recognisers,
    counts: MaskCounts,
    recall: MeasuredRecall | None,
) -> Facts:
    data = publication.data_facts(job.source, text_field=reader.written_text_field, records=counts.records)
    return mask_facts(
        data, job.how, recogniser, counts.masks, counts.repeats, recall, job.choice.policy_lines(recogniser),
        keeps_key=job.key_file is not None,
    )  # fmt: skip


__all__ = ["MaskJob", "mask_file"]
