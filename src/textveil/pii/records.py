"""Records: what clerks typed in about the people of a document, apart from its text.

    jsonl   one object a row: `id`, and each further field a value or a list of values
    csv     a header with `id`; several values of a field are divided by `;`

A row is a document or one of its people: rows that share an `id` are several people of that document. Null and empty
values are as good as absent. All records are held in memory; documents stream.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects

PersonRecord = dict[str, list[str]]
Records = dict[str, list[PersonRecord]]


def read_records(path: Path) -> Records:
    """The people of each document, by the document's id."""
    check_readable(path)
    lines = Lines(path)
    records: Records = {}
    for row in _rows(path, lines):
        name = row.get("id")
        if name is None or str(name).strip() == "":
            raise lines.bad("is missing", field="id")
        records.setdefault(str(name), []).append(_person(row, lines))
    if not records:
        raise BadInput("holds no records", where=path)
    return records


def _rows(path: Path, lines: Lines) -> Iterator[Mapping[str, Any]]:
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in ("jsonl", "ndjson"):
        return objects(lines)
    if ending == "csv":
        return _csv_rows(lines)
    raise BadInput(
        "has no ending that names a format of records", where=path, possible=".jsonl, .csv, or these with .gz"
    )


def _csv_rows(lines: Lines) -> Iterator[Mapping[str, Any]]:
    table = csv.DictReader(iter(lines), strict=True)
    try:
        for row in table:
            if None in row or None in row.values():
                raise lines.bad("has another number of columns than the header")
            yield {key: value.split(";") if key != "id" else value for key, value in row.items()}
    except csv.Error:
        raise lines.bad("is not valid csv") from None


def _person(row: Mapping[str, Any], lines: Lines) -> PersonRecord:
    person: PersonRecord = {}
    for field, value in row.items():
        if field == "id":
            continue
        values = value if isinstance(value, list) else [value]
        if any(isinstance(v, (dict, list)) for v in values):
            raise lines.bad("is neither a value nor a list of values", field=str(field))
        kept = [str(v).strip() for v in values if v is not None and str(v).strip()]
        if kept:
            person[str(field)] = kept
    return person


__all__ = ["PersonRecord", "Records", "read_records"]
