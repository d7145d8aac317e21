"""jsonl: one JSON object per line; blank lines are skipped.

The line is not parsed into a dict and printed again: numbers would change their spelling, repeated keys would vanish. The
object is walked through once at its top level, and only the text's own characters are cut out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring
from typing import Any

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.base import LineReader, choose_field

# Values beside the text are only stepped over: numbers stay strings, however long they are.
_value = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).scan_once
_blank = re.compile(r"[ \t\r\n]*").match
_SURROGATE = re.compile("[\ud800-\udfff]")
Member = tuple[str, int, int, Any]  # key, where its value starts and ends, the value
_KINDS = {"{": "an object", "[": "a list", '"': "a string", "t": "a boolean", "f": "a boolean", "n": "null"}


class JsonlReader(LineReader):
    """`row` is the line, where in it the text starts and ends, and the text that stands there."""

    format = "jsonl"

    def __iter__(self) -> Iterator[Record]:
        for line in self._lines:
            if line.isspace():
                continue
            try:
                members = _members(line)
            except RecursionError:
                raise self._lines.bad("is nested too deeply") from None
            except ValueError as error:
                column = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
                raise self._lines.bad(f"is not valid JSON{column}") from None
            yield self._record(line, members)

    def _record(self, line: str, members: list[Member] | None) -> Record:
        if members is None:
            raise self._lines.bad(f"is {_kind(line.lstrip())}, not an object")
        if self.text_field is None or self._lines.number == 1:
            self.text_field = self._choose(line, members)
        name = self.text_field
        found = [member for member in members if member[0] == name]
        if len(found) != 1:  # of two texts only one would be veiled
            raise self._lines.bad("stands twice in one object" if found else "is missing", field=name)
        _, start, end, text = found[0]
        if line[start] != '"':
            raise self._lines.bad(f"is {_kind(line[start:])}, not a string", field=name)
        return Record(text, (line, start, end, text))

    def _choose(self, line: str, members: list[Member]) -> str:
        fields = {name: line[start] == '"' for name, start, _, _ in members}
        try:
            return choose_field(fields, asked=self.text_field, path=self.path)
        except BadInput as error:
            raise BadInput(
                error.what, where=self.path, line=self._lines.number, field=error.field, possible=error.possible
            ) from None

    def render(self, record: Record) -> tuple[str, ...]:
        line, start, end, before = record.row
        if record.text == before:
            return (line,)
        return (line[:start] + _quoted(record.text) + line[end:],)


def _kind(value: str) -> str:
    return _KINDS.get(value[0], "a number")


def _quoted(text: str) -> str:
    """JSON for `text`: letters of all languages as they are, halves of surrogate pairs as escapes (UTF-8 has none)."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isascii() or not _SURROGATE.search(quoted) else json.dumps(text)


def _members(line: str) -> list[Member] | None:
    """The members of the object on `line`; None for another JSON value.

    >>> _members('{"id": 1e3, "text": "tea"}')
    [('id', 7, 10, '1e3'), ('text', 20, 25, 'tea')]
    """
    at = _blank(line).end()
    if line[at] != "{":
        json.loads(line, parse_int=str)
        return None
    members: list[Member] = []
    at = _blank(line, at + 1).end()
    if line[at : at + 1] != "}":
        at = _skip_members(line, at, members)
    if _blank(line, at + 1).end() != len(line):
        raise json.JSONDecodeError("extra data", line, at + 1)
    return members


def _skip_members(line: str, at: int, members: list[Member]) -> int:
    """Walk from the first key to the closing brace, whose place is returned."""
    while True:
        if line[at : at + 1] != '"':
            raise json.JSONDecodeError("no key", line, at)
        key, at = scanstring(line, at + 1)
        at = _blank(line, at).end()
        if line[at : at + 1] != ":":
            raise json.JSONDecodeError("no colon", line, at)
        start = _blank(line, at + 1).end()
        try:
            value, end = _value(line, start)
        except StopIteration:
            raise json.JSONDecodeError("no value", line, start) from None
        members.append((key, start, end, value))
        at = _blank(line, end).end()
        follows = line[at : at + 1]
        if follows == "}":
            return at
        if follows != ",":
            raise json.JSONDecodeError("no comma", line, at)
        at = _blank(line, at + 1).end()
