"""Training examples from files: tagged sentences, labelled texts, texts; with the user of each where that is the unit.

Tagged sentences come as conll (a token a line, its tag in the last column; an empty line ends a sentence) or as jsonl
with two lists, `tokens` and `tags`. Everything is read and checked before anything is charged; a fault is named by file
and line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.text import readers
from textveil.text.formats.lines import Lines, check_readable

MARK = "-DOCSTART-"


@dataclass
class Examples:
    """What was read: inputs, targets (none for a language model), users (where asked for), and lines for error messages."""

    inputs: list[Any] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    users: list[str] | None = None
    lines: list[int] = field(default_factory=list)

    def texts(self) -> Iterator[str]:
        """The texts alone, as every other verb reads them: one file has one fingerprint, whatever is done with it."""
        return (read if isinstance(read, str) else " ".join(read) for read in self.inputs)


def read_tagged(path: Path, *, format: str | None = None, user_field: str | None = None) -> Examples:
    """Sentences and their tags."""
    name = path.name.lower().removesuffix(".gz")
    json_lines = (format or "").startswith("jsonl") or (format is None and name.endswith((".jsonl", ".ndjson")))
    check_readable(path)
    lines = Lines(path, gz=path.name.endswith(".gz") or (format or "").endswith(".gz"))
    if not json_lines and format is None and not name.endswith((".conll", ".iob", ".bio")):
        raise BadInput("has no ending that names a format", where=path, possible="--format conll, or --format jsonl")
    if user_field is not None and not json_lines:
        raise BadInput("a conll file has no field for users", where=path, possible="jsonl with tokens, tags and a user")
    found = _tagged_json(lines, user_field) if json_lines else _tagged_columns(lines)
    if not found.inputs:
        raise BadInput("holds no sentences", where=path)
    return found


def _tagged_columns(lines: Lines) -> Examples:
    found, width = Examples(), 0
    words: list[str] = []
    tags: list[str] = []

    def close() -> None:
        if words:
            found.inputs.append(list(words))
            found.targets.append(list(tags))
            words.clear()
            tags.clear()

    for line in lines:
        columns = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
        if not line.strip() or columns[0] == MARK:
            close()
            continue
        width = width or len(columns)
        if len(columns) != width or width < 2:
            told = (
                f"has {len(columns)} columns where the first token has {width}" if width > 1 else "has no tag beside it"
            )
            raise lines.bad(f"a token {told}: labels do not align with tokens")
        if not words:
            found.lines.append(lines.number)
        words.append(columns[0])
        tags.append(columns[-1])
    close()
    return found


def _tagged_json(lines: Lines, user_field: str | None) -> Examples:
    found = Examples(users=[] if user_field else None)
    for line in lines:
        if line.isspace():
            continue
        row = _object(lines, line)
        tokens, tags = (_strings(lines, row, name) for name in ("tokens", "tags"))
        if len(tokens) != len(tags):
            raise lines.bad(f"has {len(tokens)} tokens and {len(tags)} tags: labels do not align with tokens")
        found.inputs.append(tokens)
        found.targets.append(tags)
        found.lines.append(lines.number)
        if found.users is not None:
            found.users.append(str(_value(lines, row, str(user_field))))
    return found


def check_tags(found: Examples, known: Sequence[str], path: Path) -> None:
    """Refuse a tag that the training file does not have; named by sentence, not by its content."""
    allowed = set(known)
    for line, tags in zip(found.lines, found.targets, strict=True):
        if not allowed.issuperset(tags):
            raise BadInput("the sentence here has an unknown tag", where=path, line=line, possible=", ".join(known))


def read_texts(
    path: Path,
    *,
    format: str | None = None,
    text_field: str | None = None,
    label_field: str | None = None,
    user_field: str | None = None,
) -> Examples:
    """Texts, with the label and the user of each where fields are named."""
    reader = readers.open_reader(path, format=format, text_field=text_field)
    found = Examples(users=[] if user_field else None)
    others = {name: _column(path, format, name) for name in (label_field, user_field) if name is not None}
    for number, record in enumerate(reader, start=1):
        found.inputs.append(record.text)
        found.lines.append(number)
        if label_field is not None:
            found.targets.append(next(others[label_field]))
        if user_field is not None and found.users is not None:
            found.users.append(next(others[user_field]) if user_field != label_field else found.targets[-1])
    return found


def _column(path: Path, format: str | None, name: str) -> Iterator[str]:
    """One more field of the same file, as strings."""
    kind, gz = readers._format_of(path, format)
    if kind != "jsonl":
        yield from (record.text for record in readers.open_reader(path, format=format, text_field=name))
        return
    lines = Lines(path, gz=gz)
    for line in lines:
        if not line.isspace():
            yield str(_value(lines, _object(lines, line), name))


def _object(lines: Lines, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        raise lines.bad("is not valid JSON") from None
    if not isinstance(row, dict):
        raise lines.bad("is not an object")
    return row


def _value(lines: Lines, row: dict[str, Any], name: str) -> Any:
    value = row.get(name)
    if not isinstance(value, (str, int, bool)):
        raise lines.bad("is missing, or is neither a string nor a whole number", field=name)
    return value


def _strings(lines: Lines, row: dict[str, Any], name: str) -> list[str]:
    value = row.get(name)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise lines.bad("is not a list of strings", field=name)
    return value
