"""How the input of a release was read, kept with the release, so that the same file is read in the same way again.

Names of fields and of the format are public: they stand in the output anyway, or name a column. `audit` and `measure` read
the original again; whatever the command line says comes first, then what the release remembers. The memory serves files of
the same format only: a text file beside a csv has no fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack, cast

from textveil.core import BadInput
from textveil.text import readers
from textveil.text.formats.packing import cut_packing
from textveil.text.readers import FileOptions, ReadingOptions, format_of

_DIALECT = ("delimiter", "encoding", "quotes")
_HEADER = {True: "yes", False: "no"}


class ReadAs(ReadingOptions):
    """Options of `open_reader`, and the field of the label."""

    label_field: str | None


def remember(format: str | None = None, *, header: bool | None = None, **options: str | None) -> dict[str, str]:
    """What a release keeps: only what is known, by the names of options.

    >>> remember("csv", text_field="note", label_field=None, header=True)
    {'text_field': 'note', 'format': 'csv', 'header': 'yes'}
    """
    known = {**options, "format": format, "header": None if header is None else _HEADER[header]}
    return {name: value for name, value in known.items() if value is not None}


def said_of(options: FileOptions, **fields: str | None) -> dict[str, str]:
    """What a release keeps that does not copy its input: what was said of it, and its format."""
    said = {name: getattr(options, name) for name in ("text_field", *_DIALECT)}
    return remember(header=options.header, **said, **fields)


def read_as(manifest: dict[str, Any], path: Path, **said: Unpack[ReadingOptions]) -> ReadAs:
    """How to read a file beside a release: as the command line says, else as the input of the release was read.

    >>> kept = {"facts": {"data": {"reading": {"text_field": "note", "format": "csv", "delimiter": ";"}}}}
    >>> read_as(kept, Path("in.csv"))["text_field"], read_as(kept, Path("other.txt"))["text_field"]
    ('note', None)
    >>> read_as(kept, Path("in.csv"))["delimiter"], read_as(kept, Path("in.csv"), delimiter="|")["delimiter"]
    (';', '|')
    """
    memory = _memory(manifest)
    if not _is_of_format(path, said.get("format"), memory.get("format")):
        memory = {}
    known_header = {word: value for value, word in _HEADER.items()}.get(memory.get("header", ""))
    format = None if _format_by_name(path) else memory.get("format")
    return ReadAs(
        text_field=said.get("text_field") or memory.get("text_field"),
        header=known_header if said.get("header") is None else said["header"],
        format=said.get("format") or format,
        nulls=said.get("nulls", "keep"),
        delimiter=said.get("delimiter") or memory.get("delimiter"),
        encoding=said.get("encoding") or memory.get("encoding"),
        quotes=said.get("quotes") or memory.get("quotes"),
        label_field=memory.get("label_field"),
    )


def only_reading(read: ReadAs) -> ReadingOptions:
    """The options of `open_reader` alone."""
    options = {name: value for name, value in read.items() if name != "label_field"}
    return cast(ReadingOptions, options)


def open_original(
    manifest: dict[str, Any], path: Path, asked: FileOptions, *, fields: Sequence[str] = ()
) -> readers.Reader:
    """The records of the original."""
    reading = only_reading(read_as(manifest, path, **asked.reading()))
    return readers.open_reader(path, fields=fields, columns=(), **reading)


def open_released(
    manifest: dict[str, Any], path: Path, asked: FileOptions, *, fields: Sequence[str] = ()
) -> readers.Reader:
    """The records of the released file; its text may stand in another column than in the original."""
    field = ((manifest.get("facts") or {}).get("data") or {}).get("text_field") or asked.text_field
    reading = only_reading(read_as(manifest, path, text_field=field, header=asked.header))
    return readers.open_reader(path, fields=fields, columns=(), **reading)


def _memory(manifest: dict[str, Any]) -> dict[str, str]:
    data = (manifest.get("facts") or {}).get("data") or {}
    kept = data.get("reading") or {}
    return kept if isinstance(kept, dict) else {}


def _is_of_format(path: Path, asked: str | None, format: str | None) -> bool:
    known = _format_by_name(path) if asked is None else cut_packing(asked)[0]
    return format is not None and known in (None, cut_packing(format)[0])


def _format_by_name(path: Path) -> str | None:
    try:
        return format_of(path)[0]
    except BadInput:
        return None


__all__ = ["ReadAs", "only_reading", "open_original", "open_released", "read_as", "remember", "said_of"]
