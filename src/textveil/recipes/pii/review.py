"""The journey of a review: documents, their spans and records into a store; out of it, what the reviewers let stand.

The store and every export hold private text for their owner (mode 600). None of it is a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.files import write_whole
from textveil.pii.review.exports import export
from textveil.pii.review.marks import proposals
from textveil.pii.review.store import ReviewDocument, ReviewStore
from textveil.pii.spans import check_inside, read_spans
from textveil.text import readers
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects


@dataclass(frozen=True)
class ReviewJob(readers.FileOptions):
    """A review to begin, or (without documents) to go on with."""

    store: Path
    documents: Path | None = None
    spans: Path | None = None
    records: Path | None = None
    labels: tuple[str, ...] = ()


def open_review(job: ReviewJob) -> ReviewStore:
    """The store of a review: as it is, or made from documents."""
    if job.documents is None or job.store.exists():
        if job.documents is not None:
            raise BadInput("exists already", where=job.store, possible="leave --documents out to go on with it")
        return ReviewStore(job.store)
    return ReviewStore.create(job.store, _documents(job, job.documents), labels=job.labels, source=job.documents.name)


def _documents(job: ReviewJob, path: Path) -> Iterator[ReviewDocument]:
    spans = {} if job.spans is None else read_spans(job.spans)
    records = {} if job.records is None else _records_by_id(job.records)
    reader = readers.open_reader(path, fields=_id_field(job, path), columns=(), **job.reading())
    ids = set[str]()
    for number, record in enumerate(reader, 1):
        name = str(record.fields["id"]) if record.fields.get("id") is not None else str(number)
        ids.add(name)
        own = spans.get(name, [])
        check_inside(own, len(record.text), where=job.spans, name=name)
        yield ReviewDocument(name, record.text, proposals(own), records.get(name, {}))
    for where, named in ((job.spans, spans), (job.records, records)):
        strangers = len(set(named) - ids)
        if strangers:
            raise BadInput(f"names {strangers} documents that are not in {path.name}", where=where, field="id")


def _id_field(job: ReviewJob, path: Path) -> tuple[str, ...]:
    """The field `id` where the file has one; without spans and records a document may go by its number."""
    if job.spans is not None or job.records is not None:
        return ("id",)
    return ("id",) if readers.format_of(path, job.format)[0] == "jsonl" else ()


def _records_by_id(path: Path) -> dict[str, dict[str, Any]]:
    by_id: dict[str, dict[str, Any]] = {}
    for row in _rows(path):
        if "id" not in row:
            raise BadInput("is missing", where=path, field="id")
        by_id[str(row["id"])] = {key: value for key, value in row.items() if key != "id"}
    return by_id


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    check_readable(path)
    return iter(objects(Lines(path)))


def export_review(store: ReviewStore, format: str, reviewer: str, out: Path) -> dict[str, Any]:
    """Write what a reviewer has finished, for its owner alone."""
    if out.exists():
        raise BadInput("exists already", where=out, possible="another name")
    done = len(store.done_numbers(reviewer))
    if not done:
        names = ", ".join(store.reviewers()) or "nobody yet"
        raise BadInput(f"{reviewer} has finished no document", where=store.path, possible=f"--reviewer: {names}")
    write_whole(out, "".join(export(format, store.states(reviewer))), mode=0o600)
    return {"out": str(out), "documents": done, "format": format, "reviewer": reviewer}


__all__ = ["ReviewJob", "export_review", "open_review"]
