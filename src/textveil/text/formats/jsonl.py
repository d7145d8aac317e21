"""jsonl: one JSON object per line; blank lines are skipped.

The line is not parsed into a dict and printed again: numbers would change their spelling, repeated keys would vanish. The
object is walked through once at its top level, and only the text's own characters are cut out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # in CPython, but not in its stubs
from typing import Any

from textveil.text.documents import NO_FIELDS, Record
from textveil.text.formats.base import LineReader
from textveil.text.formats.lines import cut_end
from textveil.text.formats.names import choose_field

# Values beside the text are only stepped over: numbers stay strings, however long they are.
_value = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).scan_once  # type: ignore[attr-defined]
_decode = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # where values are asked for
_opens = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"').match
_colon = re.compile(r"[ \t\r\n]*:[ \t\r\n]*").match
_follows = re.compile(r'[ \t\r\n]*(?:,[ \t\r\n]*"|(\})[ \t\r\n]*\Z)').match  # another key, or the end of all
_encode = json.JSONEncoder(ensure_ascii=False).encode
Decode = Callable[[str, int], tuple[Any, int]]
Member = tuple[str, int, int, Any]  # key, where its value starts and ends, the value
_KINDS = {"{": "an object", "[": "a list", '"': "a string", "t": "a boolean", "f": "a boolean", "n": "null"}


class JsonlReader(LineReader):
    """`row` is the line (without the columns that stay behind), and where in it the text starts and ends."""

    format = "jsonl"

    def _open(self) -> None:
        super()._open()
        self._keys_seen: dict[str, None] = {}
        self._wants_fields, self._all_pass = bool(self.reading.fields), self.reading.columns is None
        self._decode = _decode if self._wants_fields else _value

    def _passing(self) -> list[str]:
        return [f"column '{key}'" for key in self._keys_seen if key != self.text_field and self.reading.keeps(key)]

    def __iter__(self) -> Iterator[Record]:
        seen, last_keys = self._keys_seen, list[str]()
        for line in self._lines:
            if line.isspace():
                continue
            try:
                members = _members(line, self._decode)
            except RecursionError:
                raise self._lines.bad("is nested too deeply") from None
            except ValueError as error:
                column = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
                raise self._lines.bad(f"is not valid JSON{column}") from None
            if members is None:
                raise self._lines.bad(f"is {_kind(line.lstrip())}, not an object")
            keys = [member[0] for member in members]
            if keys != last_keys:
                last_keys = keys
                seen.update(dict.fromkeys(keys))
            yield self._record(line, keys, members)

    def _record(self, line: str, keys: list[str], members: list[Member]) -> Record:
        if self.text_field is None or self._lines.number == 1:
            strings = {name: line[start] == '"' for name, start, _, _ in members}
            self.text_field = choose_field(strings, asked=self.text_field, path=self.path, line=self._lines.number)
        name = self.text_field
        if keys.count(name) != 1:  # of two texts only one would be veiled
            raise self._lines.bad("stands twice in one object" if name in keys else "is missing", field=name)
        _, start, end, text = members[keys.index(name)]
        if line[start] != '"':
            if text is not None:
                raise self._lines.bad(f"is {_kind(line[start:])}, not a string", field=name)
            self._note_missing(self._lines.number)
            text = ""
        fields = self._fields(keys, members) if self._wants_fields else NO_FIELDS
        if not self._all_pass:
            line, start, end = self._kept(line, members)
        return Record(text, (line, start, end), fields)

    def _fields(self, keys: list[str], members: list[Member]) -> dict[str, Any]:
        """The values of the fields asked for, as JSON has them; None for one that this object does not have."""
        for name in self.reading.fields:
            if keys.count(name) > 1:
                raise self._lines.bad("stands twice in one object", field=name)
        return {name: members[keys.index(name)][3] if name in keys else None for name in self.reading.fields}

    def _kept(self, line: str, members: list[Member]) -> tuple[str, int, int]:
        """The line with the columns that leave, each value spelt as before, and the place of the text in it."""
        whole, text_start, text_end = "{", 0, 0
        for key, start, end, _ in members:
            if key != self.text_field and not self.reading.keeps(key):
                continue
            whole += f"{', ' if len(whole) > 1 else ''}{_quoted(key)}: "
            if key == self.text_field:
                text_start, text_end = len(whole), len(whole) + end - start
            whole += line[start:end]
        return whole + "}" + cut_end(line)[1], text_start, text_end

    def render(self, record: Record) -> tuple[str, ...]:
        line, start, end = record.row
        if not record.is_new or (not record.text and line[start] == "n"):  # untouched, or still missing
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


def _members(line: str, decode: Decode = _value) -> list[Member] | None:
    """The members of the object on `line`; None for another JSON value.

    >>> _members('{"id": 1e3, "text": "tea"}')
    [('id', 7, 10, '1e3'), ('text', 20, 25, 'tea')]
    """
    members = _walk(line, decode)
    if members is None:  # not an object with members: the library says what it is, or what is wrong with it
        value = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
        return [] if isinstance(value, dict) else None
    return members


def _walk(line: str, decode: Decode) -> list[Member] | None:
    """The members, as long as each step finds what must follow."""
    members: list[Member] = []
    step = _opens(line)
    try:
        while step:
            key, at = scanstring(line, step.end())
            start = _colon(line, at).end()  # type: ignore[union-attr]
            value, end = decode(line, start)
            members.append((key, start, end, value))
            step = _follows(line, end)
            if step and step[1]:
                return members
    except (AttributeError, StopIteration):  # no colon, no value
        pass
    return None
