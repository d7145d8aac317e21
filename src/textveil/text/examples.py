"""Training examples from files: tagged sentences, labelled texts, texts; with the user of each where that is the unit.

Tagged sentences come as conll (a token a line, its tag in the last column; an empty line ends a sentence; or spaCy's .iob) or
as jsonl with two lists, `tokens` and `tags`. Everything is read and checked before anything is charged; a fault is named
by file and line. Nothing of these files is written again, so the readers pass no columns on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from textveil.core import BadInput
from textveil.text.formats.conll import ConllReader
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects
from textveil.text.formats.sample import open_lines
from textveil.text.readers import ReadingOptions, format_of, open_reader


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


def read_tagged(
    path: Path, *, format: str | None = None, user_field: str | None = None, encoding: str | None = None
) -> Examples:
    """Sentences and their tags."""
    kind, packing = format_of(path, format)
    if kind == "jsonl":
        examples = _tagged_objects(path, packing, user_field, encoding)
    elif kind == "conll":
        if user_field is not None:
            what = "a conll file has no field for users"
            raise BadInput(what, where=path, possible="jsonl with tokens, tags and a user")
        examples = _tagged_columns(path, format, encoding)
    else:
        raise BadInput(f"a {kind} file holds no tags", where=path, possible="conll, or jsonl with tokens and tags")
    if not examples.inputs:
        raise BadInput("holds no sentences", where=path)
    return examples


def _tagged_columns(path: Path, format: str | None, encoding: str | None) -> Examples:
    reader = open_reader(path, format=format, encoding=encoding, fields=("1", "-1"), columns=())
    assert isinstance(reader, ConllReader)
    if reader.is_conllu:
        raise BadInput("is CoNLL-U, which has no tag in its last column", where=path, possible="two columns: word, tag")
    if reader.columns < 2:
        raise BadInput("a token has no tag beside it", where=path, line=reader.record_line)
    examples = Examples()
    for record in reader:
        examples.inputs.append(record.fields["1"])
        examples.targets.append(record.fields["-1"])
        examples.lines.append(reader.record_line)
    return examples


def _tagged_objects(path: Path, packing: str, user_field: str | None, encoding: str | None) -> Examples:
    """Lists of tokens and tags. There is no text field, so the objects are read as they are."""
    check_readable(path)
    examples = Examples(users=[] if user_field else None)
    lines = open_lines(path, packing, encoding=encoding)
    for row in objects(lines):
        tokens, tags = (_strings(lines, row, name) for name in ("tokens", "tags"))
        if len(tokens) != len(tags):
            raise lines.bad(f"has {len(tokens)} tokens and {len(tags)} tags: labels do not align with tokens")
        examples.inputs.append(tokens)
        examples.targets.append(tags)
        examples.lines.append(lines.number)
        if examples.users is not None:
            examples.users.append(name_of(row.get(str(user_field)), path, lines.number, str(user_field)))
    return examples


def check_labels(examples: Examples, known: Sequence[str], path: Path, *, declared: bool) -> None:
    """Refuse a tag or label that the training file does not have, named by its line. Only declared ones are listed:
    the others are private."""
    allowed, possible = set(known), ", ".join(map(str, known)) if declared else "one that stands in the training file"
    for line, target in zip(examples.lines, examples.targets, strict=True):
        if not allowed.issuperset(target if isinstance(target, (list, tuple)) else [target]):
            raise BadInput("a tag or label here is unknown", where=path, line=line, possible=possible)


def read_texts(
    path: Path, *, label_field: str | None = None, user_field: str | None = None, **reading: Unpack[ReadingOptions]
) -> Examples:
    """Texts, with the label and the user of each where fields are named."""
    fields = [name for name in (label_field, user_field) if name is not None]
    reader = open_reader(path, fields=fields, columns=(), **reading)
    examples = Examples(users=[] if user_field else None)
    for record in reader:
        line = reader.record_line
        examples.inputs.append(record.text)
        examples.lines.append(line)
        if label_field is not None:
            examples.targets.append(name_of(record.fields[label_field], path, line, label_field))
        if examples.users is not None and user_field is not None:
            examples.users.append(name_of(record.fields[user_field], path, line, user_field))
    return examples


def read_text_lists(path: Path, *, user_field: str | None = None, **reading: Unpack[ReadingOptions]) -> Examples | None:
    """Texts of a jsonl file whose text field holds a list of strings (all texts of a user in one line); None for others."""
    kind, packing = format_of(path, reading.get("format"))
    text_field = reading.get("text_field")
    if kind != "jsonl" or text_field is None:
        return None
    check_readable(path)
    lines = open_lines(path, packing, encoding=reading.get("encoding"))
    examples = Examples(users=[] if user_field else None)
    for row in objects(lines):
        if not examples.inputs and not isinstance(row.get(text_field), list):
            return None
        texts = _strings(lines, row, text_field)
        examples.inputs += texts
        examples.lines += [lines.number] * len(texts)
        if examples.users is not None:
            examples.users += [name_of(row.get(str(user_field)), path, lines.number, str(user_field))] * len(texts)
    return examples


def name_of(value: Any, path: Path, line: int, field: str) -> str:
    """A label or user as a string.

    >>> name_of(7, Path("notes.jsonl"), 1, "user")
    '7'
    """
    if value is None:
        raise BadInput("is missing", where=path, line=line, field=field)
    if not isinstance(value, (str, int)):
        raise BadInput("is neither a string nor a whole number", where=path, line=line, field=field)
    return str(value)


def _strings(lines: Lines, row: dict[str, Any], name: str) -> list[str]:
    value = row.get(name)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise lines.bad("is not a list of strings", field=name)
    return value
