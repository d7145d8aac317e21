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
_opens = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"').match
_colon = re.compile(r"[ \t\r\n]*:[ \t\r\n]*").match
_follows = re.compile(r'[ \t\r\n]*(?:,[ \t\r\n]*"|(\})[ \t\r\n]*\Z)').match  # another key, or the end of all
_encode = json.JSONEncoder(ensure_ascii=False).encode
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
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return _encode(text)


def _members(line: str) -> list[Member] | None:
    """The members of the object on `line`; None for another JSON value.

    >>> _members('{"id": 1e3, "text": "tea"}')
    [('id', 7, 10, '1e3'), ('text', 20, 25, 'tea')]
    """
    members = _walk(line)
    if members is None:  # not an object with members: the library says what it is, or what is wrong with it
        value = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
        return [] if isinstance(value, dict) else None
    return members


def _walk(line: str) -> list[Member] | None:
    """The members, as long as each step finds what must follow."""
    members: list[Member] = []
    step = _opens(line)
    try:
        while step:
            key, at = scanstring(line, step.end())
            start = _colon(line, at).end()  # type: ignore[union-attr]
            value, end = _value(line, start)
            members.append((key, start, end, value))
            step = _follows(line, end)
            if step and step[1]:
                return members
    except (AttributeError, StopIteration):  # no colon, no value
        pass
    return None
