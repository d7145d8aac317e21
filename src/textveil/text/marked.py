"""Marked documents on disk, for every journey that trains an extractor.

    documents   jsonl (or .gz): `text`, and `id` when the spans stand in a file of their own; or `spans`, a list, in each
    spans       jsonl (or .gz): `id`, `start`, `end`, and the label in `label` or `clause`

Offsets count characters, the end is exclusive. All of the spans are held; documents stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textveil.core import BadInput
from textveil.core.errors import UnknownName
from textveil.core.fingerprint import Fingerprint
from textveil.text import readers
from textveil.text.documents import Record
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects
from textveil.text.formats.packing import cut_packing

LABEL_FIELDS = ("label", "clause")
NO_LABEL = "CLAUSE"  # of spans that name none
_MOST_NAMES = 12  # that a message lists


class Marked(NamedTuple):
    """One document and its spans, as (start, end)."""

    text: str
    spans: list[tuple[int, int]]


class MarkedNumbers(NamedTuple):
    """One document and its spans, as (start, end, number of the label among the chosen ones, from 1)."""

    text: str
    spans: list[tuple[int, int, int]]


@dataclass(frozen=True)
class MarkedFiles:
    """Where the documents and their spans are, and which labels are wanted (None: the only one there is)."""

    source: Path
    spans: Path | None = None
    label: str | tuple[str, ...] | None = None
    text_field: str | None = None

    def open(self) -> MarkedReader:
        return MarkedReader(self)


class MarkedReader:
    """Reads the spans at once, and the documents when it is gone through: each time from the beginning."""

    def __init__(self, files: MarkedFiles):
        if cut_packing(files.source.name.lower())[0].rpartition(".")[2] not in ("jsonl", "ndjson"):
            raise BadInput(
                "marked documents are read from jsonl", where=files.source, possible="a name in .jsonl or .jsonl.gz"
            )
        self._files = files
        field = "spans" if files.spans is None else "id"
        self._reader = readers.open_reader(files.source, text_field=files.text_field, fields=(field,), columns=())
        self._by_id = None if files.spans is None else spans_by_id(files.spans)
        labels = _labels_of(self._by_id) if self._by_id is not None else self._labels_inside()
        self.labels = _chosen(files.label, labels, files.spans or files.source)

    @property
    def label(self) -> str:
        """The first of the chosen labels, which is mostly the only one."""
        return self.labels[0]

    @property
    def size(self) -> int:
        return self._reader.size

    def documents(
        self, mark: Fingerprint | None = None, advance: Callable[[float], None] | None = None
    ) -> Iterator[Marked]:
        """All documents in the file's order, every span checked against its text."""
        for text, spans in self.numbered(mark, advance):
            yield Marked(text, [(start, end) for start, end, _ in spans])

    def numbered(
        self, mark: Fingerprint | None = None, advance: Callable[[float], None] | None = None
    ) -> Iterator[MarkedNumbers]:
        """The same, with the number of each span's label."""
        numbers = {label: number for number, label in enumerate(self.labels, 1)}
        ids_seen, bytes_told = set[str](), 0
        for record in self._reader:
            if mark is not None:
                mark.update(record.text)
            spans = self._spans_inside(record) if self._by_id is None else self._spans_of_id(record, ids_seen)
            chosen = [(*s.checked(len(record.text)), numbers[s.label]) for s in spans if s.label in numbers]
            yield MarkedNumbers(record.text, chosen)
            if advance is not None:
                advance(self._reader.bytes_read - bytes_told)
                bytes_told = self._reader.bytes_read
        missing = set(self._by_id or ()) - ids_seen
        if missing:
            first = self._by_id[min(missing, key=lambda i: self._by_id[i][0].line)][0]  # type: ignore[index]
            raise BadInput(
                "names a document that the documents do not hold", where=first.where, line=first.line, field="id"
            )

    def _spans_of_id(self, record: Record, ids_seen: set[str]) -> list[MarkedSpan]:
        line, value = self._reader.record_line, record.fields["id"]
        if value is None:
            raise BadInput("is missing", where=self._files.source, line=line, field="id")
        name = str(value)
        if name in ids_seen:
            raise BadInput("stands in two documents", where=self._files.source, line=line, field="id")
        ids_seen.add(name)
        return self._by_id.get(name, [])  # type: ignore[union-attr]

    def _spans_inside(self, record: Record) -> list[MarkedSpan]:
        where, line, listed = self._files.source, self._reader.record_line, record.fields["spans"]
        if listed is None:
            raise BadInput("is missing", where=where, line=line, field="spans", possible="a list, or --spans FILE")
        if not isinstance(listed, list):
            raise BadInput("is not a list", where=where, line=line, field="spans")
        return [_span(item, where, line) for item in listed]

    def _labels_inside(self) -> set[str]:
        """Labels of spans that stand in the records; one pass that keeps nothing else."""
        return {span.label for record in self._reader for span in self._spans_inside(record)}


class MarkedSpan(NamedTuple):
    """A span, and where it stands in its file."""

    start: int
    end: int
    label: str
    where: Path
    line: int

    def checked(self, length: int) -> tuple[int, int]:
        if not 0 <= self.start < self.end <= length:
            raise BadInput(
                f"a span from {self.start} to {self.end} does not fit its document of {length} characters",
                where=self.where,
                line=self.line,
            )
        return self.start, self.end


def _span(found: Any, where: Path, line: int) -> MarkedSpan:
    """A span given as an object, or as [start, end] or [start, end, label]."""
    if isinstance(found, dict):
        start, end = found.get("start"), found.get("end")
        label = next((found[f] for f in LABEL_FIELDS if found.get(f) is not None), NO_LABEL)
    elif isinstance(found, list) and len(found) in (2, 3):
        start, end, label = (*found, NO_LABEL)[:3]
    else:
        raise BadInput("is no span", where=where, line=line, possible='{"start": 0, "end": 9, "label": "LAW"}')
    return MarkedSpan(_place("start", start, where, line), _place("end", end, where, line), str(label), where, line)


def _place(name: str, value: Any, where: Path, line: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput("is not a whole number", where=where, line=line, field=name)
    return value


def spans_by_id(path: Path) -> dict[str, list[MarkedSpan]]:
    """All spans of a file by the id of their document."""
    check_readable(path)
    by_id: dict[str, list[MarkedSpan]] = {}
    lines = Lines(path)
    for row in objects(lines):
        if "id" not in row:
            raise lines.bad("is missing", field="id")
        by_id.setdefault(str(row["id"]), []).append(_span(row, path, lines.number))
    return by_id


def _labels_of(by_id: dict[str, list[MarkedSpan]]) -> set[str]:
    return {span.label for spans in by_id.values() for span in spans}


def _chosen(asked: str | tuple[str, ...] | None, labels: set[str], where: Path) -> tuple[str, ...]:
    if not labels:
        raise BadInput(
            "holds no spans, so there is a single label", where=where, possible="documents with marked spans"
        )
    if asked:
        wanted = (asked,) if isinstance(asked, str) else tuple(dict.fromkeys(asked))
        for label in wanted:
            if label not in labels:
                if labels == {NO_LABEL}:
                    raise BadInput("its spans name no label: leave --label out", where=where)
                raise UnknownName("label", label, labels)
        return wanted
    if len(labels) > 1:
        names = ", ".join(sorted(labels)[:_MOST_NAMES]) + (" ..." if len(labels) > _MOST_NAMES else "")
        raise BadInput(f"holds {len(labels)} labels", where=where, possible=f"--label with one of: {names}")
    return (next(iter(labels)),)
