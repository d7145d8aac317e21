"""The journey of annotation: documents and the records about their people in, marked spans out, for their owner alone.

Documents stream twice: once over the first `FIT_DOCUMENTS` of them to learn how far each matcher can be trusted (vote
patterns only are kept), once to write. Records are held. The output is about private text: one file of mode 600,
never a release folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.params import needs
from textveil.pii.annotate.annotator import THRESHOLD, Annotator
from textveil.pii.annotate.fields import FieldRule, Kind, rule_of
from textveil.pii.bio import bio_lines
from textveil.pii.recognisers import load
from textveil.pii.records import Records, read_records
from textveil.pii.spans import Span, span_lines
from textveil.text import readers
from textveil.text.atomic import AtomicFile
from textveil.text.formats.base import Reader
from textveil.text.formats.packing import packing_of

FIT_DOCUMENTS = 2000
FORMATS: dict[str, Callable[[str, str, list[Span]], str]] = {
    "spans": lambda name, text, spans: span_lines(name, spans),
    "bio": lambda name, text, spans: bio_lines(text, spans),
}
Bar = Callable[[str, float | None, str], AbstractContextManager[Callable[[float], None]]]


def _no_bar(title: str, total: float | None, unit: str) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda step: None)


@dataclass(frozen=True)
class AnnotateJob:
    """What to annotate, from which records, and where the spans go."""

    documents: Path
    records: Path
    out: Path
    output: str = "spans"
    rules: dict[str, FieldRule] = field(default_factory=dict)
    threshold: float = THRESHOLD
    text_field: str | None = None
    id_field: str = "id"
    format: str | None = None
    header: bool | None = None
    model: str | None = None  # a recogniser whose findings are candidates too


def annotate_file(job: AnnotateJob, bar: Bar = _no_bar) -> dict[str, Any]:
    """Annotate a file; what was found, in numbers."""
    needs("pii", "rapidfuzz")
    if job.out.exists():
        raise BadInput("exists already", where=job.out, possible="another name")
    records = read_records(job.records)
    _check_rules(job, records)
    reader = _reader(job)
    _check_known(job, reader, records)
    annotator = Annotator(job.rules, job.threshold, finder=None if job.model is None else load(job.model))
    with bar("learning", FIT_DOCUMENTS, "documents") as advance:
        candidates = annotator.learn(islice(_counted(_pairs(job, reader, records), advance), FIT_DOCUMENTS))
    labels: dict[str, int] = {}
    documents = without = 0
    with (
        AtomicFile(job.out, packing=packing_of(job.out.name), private=True) as out,
        bar("annotating", reader.size, "bytes") as advance,
    ):
        told = 0
        for name, text in _documents(job, reader):
            spans = annotator.annotate(text, records.get(name, []))
            out.write(FORMATS[job.output](name, text, spans).encode())
            for span in spans:
                labels[span.label] = labels.get(span.label, 0) + 1
            documents += 1
            without += name not in records
            advance(reader.bytes_read - told)
            told = reader.bytes_read
    return {
        "out": str(job.out),
        "format": job.output,
        "documents": documents,
        "documents_without_record": without,
        "spans": sum(labels.values()),
        "labels": dict(sorted(labels.items())),
        "candidates_learnt_from": candidates,
    }


def _reader(job: AnnotateJob) -> Reader:
    return readers.open_reader(
        job.documents,
        format=job.format,
        text_field=job.text_field,
        fields=(job.id_field,),
        columns=(),
        header=job.header,
    )


def _documents(job: AnnotateJob, reader: Reader) -> Iterator[tuple[str, str]]:
    names = set[str]()
    for record in reader:
        value = record.fields[job.id_field]
        if value is None or str(value) == "":
            raise BadInput("is missing", where=job.documents, line=reader.record_line, field=job.id_field)
        name = str(value)
        if name in names:
            raise BadInput("stands in two documents", where=job.documents, line=reader.record_line, field=job.id_field)
        names.add(name)
        yield name, record.text


def _pairs(job: AnnotateJob, reader: Reader, records: Records) -> Iterator[tuple[str, Any]]:
    return ((text, records.get(name, [])) for name, text in _documents(job, reader))


def _counted(pairs: Iterator[Any], advance: Callable[[float], None]) -> Iterator[Any]:
    for pair in pairs:
        yield pair
        advance(1)


def _check_known(job: AnnotateJob, reader: Reader, records: Records) -> None:
    """Records of documents that are not there are a mistake: a wrong file, or another spelling of the ids."""
    strangers = set(records)
    for name, _ in _documents(job, reader):
        strangers.discard(name)
    if strangers:
        raise BadInput(
            f"{len(strangers)} records name documents that are not in {job.documents.name}",
            where=job.records,
            field="id",
        )


def _check_rules(job: AnnotateJob, records: Records) -> None:
    fields = {name for people in records.values() for person in people for name in person}
    unknown = sorted(set(job.rules) - fields)
    if unknown:
        raise BadInput(f"no record has the field '{unknown[0]}'", where=job.records, possible=", ".join(sorted(fields)))
    marked = [name for name in fields if rule_of(name, job.rules).kind not in (Kind.SUBJECT, Kind.NONE)]
    if not marked:
        raise BadInput("no field has values to mark", where=job.records, possible="--field NAME=LABEL:KIND")


__all__ = ["FORMATS", "AnnotateJob", "annotate_file"]
