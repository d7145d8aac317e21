"""How the input of a release was read, kept with the release, so that the same file is read in the same way again.

Names of fields and of the format are public: they stand in the output anyway, or name a column. `audit` and `measure` read
the original again; whatever the command line says comes first, then what the release remembers. The memory serves files of
the same format only: a text file beside a csv has no fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from textveil.core import BadInput
from textveil.text.readers import format_of

_HEADER = {True: "yes", False: "no"}


class ReadAs(TypedDict):
    """Options of `open_reader`, and the field of the label."""

    text_field: str | None
    header: bool | None
    format: str | None
    label_field: str | None


def remember(format: str | None = None, *, header: bool | None = None, **fields: str | None) -> dict[str, str]:
    """What a release keeps: only what is known.

    >>> remember("csv", text_field="note", label_field=None, header=True)
    {'text_field': 'note', 'format': 'csv', 'header': 'yes'}
    """
    known = {**fields, "format": format, "header": None if header is None else _HEADER[header]}
    return {name: value for name, value in known.items() if value is not None}


def read_as(
    manifest: dict[str, Any], path: Path, *, text_field: str | None = None, header: bool | None = None
) -> ReadAs:
    """How to read a file beside a release: as the command line says, else as the input of the release was read.

    >>> kept = {"facts": {"data": {"reading": {"text_field": "note", "format": "csv"}}}}
    >>> read_as(kept, Path("in.csv"))["text_field"], read_as(kept, Path("other.txt"))["text_field"]
    ('note', None)
    """
    memory = _memory(manifest)
    if not _is_of_format(path, memory.get("format")):
        memory = {}
    known_header = {said: value for value, said in _HEADER.items()}.get(memory.get("header", ""))
    return ReadAs(
        text_field=text_field or memory.get("text_field"),
        header=known_header if header is None else header,
        format=None if _format_by_name(path) else memory.get("format"),
        label_field=memory.get("label_field"),
    )


def _memory(manifest: dict[str, Any]) -> dict[str, str]:
    data = (manifest.get("facts") or {}).get("data") or {}
    kept = data.get("reading") or {}
    return kept if isinstance(kept, dict) else {}


def _is_of_format(path: Path, format: str | None) -> bool:
    return format is not None and _format_by_name(path) in (None, format)


def _format_by_name(path: Path) -> str | None:
    try:
        return format_of(path)[0]
    except BadInput:
        return None


__all__ = ["ReadAs", "read_as", "remember"]
