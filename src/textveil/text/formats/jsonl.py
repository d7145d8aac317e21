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


class JsonObjects(LineReader):
    """What jsonl and json share: `row` is the raw object (without the columns that stay behind, and with what divides it from
    the next), and where in it the text starts and ends."""

    def _begin(self) -> None:
        self._keys_seen: dict[str, None] = {}
        self._wants_fields, self._all_pass = bool(self.reading.fields), self.reading.columns is None
        self._decode = _decode if self._wants_fields else _value

    def _passing(self) -> list[str]:
        return [f"column '{key}'" for key in self._keys_seen if key != self.text_field and self.reading.keeps(key)]

    def _members_of(self, raw: str) -> list[Member]:
        """The members of the object, or one sentence about what is wrong with it."""
        try:
            members = _members(raw, self._decode)
        except RecursionError:
            raise self._lines.bad("is nested too deeply") from None
        except ValueError as error:
            column = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
            raise self._lines.bad(f"is not valid JSON{column}") from None
        if members is None:
            kind = _kind(raw.lstrip())
            raise self._lines.bad(f"is {kind}, not an object", possible=self._other_format(kind))
        return members

    def _other_format(self, kind: str) -> str | None:
        return None

    def _record(self, raw: str, keys: list[str], members: list[Member], divider: str) -> Record:
        if self.text_field is None or self._lines.number == 1:
            strings = {name: raw[start] == '"' for name, start, _, _ in members}
            self.text_field = choose_field(strings, asked=self.text_field, path=self.path, line=self._lines.number)
        name = self.text_field
        if keys.count(name) != 1:  # of two texts only one would be veiled
            raise self._lines.bad("stands twice in one object" if name in keys else "is missing", field=name)
        _, start, end, text = members[keys.index(name)]
        if raw[start] != '"':
            if text is not None:
                raise self._lines.bad(f"is {_kind(raw[start:])}, not a string", field=name)
            self._note_missing(self._lines.number)
            text = ""
        fields = self._fields(keys, members) if self._wants_fields else NO_FIELDS
        if not self._all_pass:
            raw, start, end = self._kept(raw, members)
        return Record(text, (raw + divider if divider else raw, start, end), fields)

    def _fields(self, keys: list[str], members: list[Member]) -> dict[str, Any]:
        """The values of the fields asked for, as JSON has them; None for one that this object does not have."""
        for name in self.reading.fields:
            if keys.count(name) > 1:
                raise self._lines.bad("stands twice in one object", field=name)
        return {name: members[keys.index(name)][3] if name in keys else None for name in self.reading.fields}

    def _kept(self, raw: str, members: list[Member]) -> tuple[str, int, int]:
        """The object with the columns that leave, each value spelt as before, and the place of the text in it."""
        whole, text_start, text_end = "{", 0, 0
        for key, start, end, _ in members:
            if key != self.text_field and not self.reading.keeps(key):
                continue
            whole += f"{', ' if len(whole) > 1 else ''}{self._quoted(key)}: "
            if key == self.text_field:
                text_start, text_end = len(whole), len(whole) + end - start
            whole += raw[start:end]
        return whole + "}" + cut_end(raw)[1], text_start, text_end

    def render(self, record: Record) -> tuple[str, ...]:
        raw, start, end = record.row
        if not record.is_new or (not record.text and raw[start] == "n"):  # untouched, or still missing
            return (raw,)
        return (raw[:start] + self._quoted(record.text) + raw[end:],)

    def _quoted(self, text: str) -> str:
        """JSON for `text`: letters as they are, escapes for what the encoding lacks (UTF-8: halves of surrogate pairs)."""
        try:
            text.encode(self._lines.encoding)
        except UnicodeEncodeError:
            return json.dumps(text)
        return _encode(text)

    def check_words(self, words: str) -> None:
        """Every word can be written: as an escape if need be."""


class JsonlReader(JsonObjects):
    """One object a line."""

    format = "jsonl"

    def _open(self) -> None:
        super()._open()
        self._begin()

    def _other_format(self, kind: str) -> str | None:
        return "--format json, where the file is one array" if kind == "a list" and self._lines.number == 1 else None

    def __iter__(self) -> Iterator[Record]:
        seen, last_keys = self._keys_seen, list[str]()
        for line in self._lines:
            if line.isspace():
                continue
            members = self._members_of(line)
            keys = [member[0] for member in members]
            if keys != last_keys:
                last_keys = keys
                seen.update(dict.fromkeys(keys))
            yield self._record(line, keys, members, "")


def _kind(value: str) -> str:
    return _KINDS.get(value[0], "a number")


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
