"""json: one array, of objects that hold a text each or of texts themselves. It is read as a stream, record by record.

What stands between two records (a comma, line ends, blanks) belongs to the first of them, so all of it comes back byte
for byte.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any, BinaryIO, NamedTuple

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.encodings import MARK, SAY_ENCODING, UTF8
from textveil.text.formats.jsonl import JsonObjects
from textveil.text.formats.lines import Lines
from textveil.text.formats.sample import FileSample

_CHUNK = 2**18
_blanks = re.compile(r"[ \t\r\n]*").match
_value = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).scan_once  # type: ignore[attr-defined]


class Chunks(Lines):
    """Runs of characters instead of lines; `number` is set by whoever reads them."""

    def _decoded(self, stream: BinaryIO) -> Iterator[str]:
        decoder, number = codecs.getincrementaldecoder(self.encoding)(), 0
        while True:
            waiting, data = decoder.getstate()[0], stream.read(_CHUNK)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError:
                raise self.bad(f"is followed by what is not {self.encoding.upper()}", possible=SAY_ENCODING) from None
            used = waiting + data
            rest = decoder.getstate()[0]
            if self.encoding != UTF8 and text.encode(self.encoding) != used[: len(used) - len(rest)]:
                raise self.bad(f"is followed by bytes that {self.encoding} cannot write back the same")
            if not number and text.startswith(MARK):
                self.start, text = MARK, text[1:]
            number += 1
            if text:
                yield text
            if not data:
                return


class Element(NamedTuple):
    """One value of the array, and what divides it from the next or ends the file."""

    raw: str
    divider: str


class ElementStream:
    """The values of an array. Keeps one of them and a chunk in memory."""

    def __init__(self, lines: Chunks, chunks: Iterator[str], most: int):
        self._lines, self._chunks, self._most = lines, chunks, most
        self._text, self._at, self._is_over = "", 0, False

    def _fill(self) -> bool:
        """Take a further chunk; False where there is none."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        self._text, self._at = self._text[self._at :] + chunk, 0
        if len(self._text) > self._most + 2 * _CHUNK:
            limit = f"{self._most / 2**20:g} MiB, the longest allowed record (--max-line-mb)"
            raise self._lines.bad(f"is not valid JSON, or is longer than {limit}")
        return True

    def _skip_blanks(self, start: int) -> int:
        """How far after `start` (counted from where the stream stands) the next sign is; takes chunks as it needs them."""
        while True:
            end = _blanks(self._text, self._at + start).end()  # type: ignore[union-attr]
            if end < len(self._text) or not self._fill():
                return int(_blanks(self._text, self._at + start).end()) - self._at  # type: ignore[union-attr]

    def _sign(self, place: int) -> str:
        return self._text[self._at + place : self._at + place + 1]

    def _take(self, length: int) -> str:
        taken = self._text[self._at : self._at + length]
        self._at += length
        return taken

    def head(self) -> str:
        """The bracket that opens the array, and blanks around it."""
        place = self._skip_blanks(0)
        if self._sign(place) != "[":
            kind = {"{": "an object", "": "blank"}.get(self._sign(place), "not JSON")
            raise BadInput(
                f"is {kind}, where a json file is one array of records",
                where=self._lines.path,
                possible="--format jsonl, where each line is an object",
            )
        head = self._take(self._skip_blanks(place + 1))
        if self._sign(0) == "]":
            head += self._take(self._skip_blanks(1))
            self._is_over = True
        return head

    def elements(self) -> Iterator[Element]:
        """The values, in the file's order."""
        while not self._is_over:
            end = self._end_of_value()
            after = self._skip_blanks(end)
            sign = self._sign(after)
            if sign == ",":
                after = self._skip_blanks(after + 1)
            elif sign == "]":
                after = self._skip_blanks(after + 1)
                self._is_over = True
                if self._sign(after):
                    raise self._lines.bad("something follows the end of the array")
            else:
                raise self._lines.bad("is not valid JSON (no comma and no ] after a record)")
            raw = self._take(after)
            yield Element(raw[:end], raw[end:])

    def _end_of_value(self) -> int:
        """Where the value ends that starts here; more is read as long as it does not end."""
        if self._sign(0) not in ("{", '"', "n"):
            raise self._lines.bad("a record is neither an object nor a string")
        while True:
            try:
                return int(_value(self._text, self._at)[1]) - self._at
            except RecursionError:
                raise self._lines.bad("is nested too deeply") from None
            except (ValueError, StopIteration):
                if not self._fill():
                    raise self._lines.bad("is not valid JSON") from None


class JsonReader(JsonObjects):
    """An array of objects, or of strings."""

    format = "json"
    ends_lines = False

    def _lines_of(self, sample: FileSample) -> Lines:
        return Chunks(sample.path, packing=sample.packing, encoding=sample.encoding, max_line_bytes=self.max_line_bytes)

    def _open(self) -> None:
        super()._open()
        self._begin()
        self._is_of_strings = False
        with closing(self._elements()) as elements:
            first = next(elements, None)
        if first is not None and first.raw.startswith('"'):
            self._is_of_strings = True
            asked = (self.reading.text_field, *self.reading.fields, *(self.reading.columns or ()))
            if any(name is not None for name in asked):
                raise BadInput("an array of strings has no fields", where=self.path)

    def _elements(self) -> Generator[Element]:
        assert isinstance(self._lines, Chunks)
        self._lines.number = 1
        with closing(iter(self._lines)) as chunks:
            stream = ElementStream(self._lines, chunks, self.max_line_bytes)
            self._lines.number, self._header = 1, stream.head()
            self._lines.number += self._header.count("\n")
            for element in stream.elements():
                yield element
                self._lines.number += element.raw.count("\n") + element.divider.count("\n")

    def __iter__(self) -> Iterator[Record]:
        with closing(self._elements()) as elements:
            for element in elements:
                yield self._text(element) if self._is_of_strings else self._object(element)

    def _text(self, element: Element) -> Record:
        text: Any = json.loads(element.raw)
        if isinstance(text, dict):
            raise self._lines.bad("is an object among strings")
        if text is None:
            self._note_missing(self._lines.number)
        return Record(text or "", (element.raw + element.divider, 0, len(element.raw)))

    def _object(self, element: Element) -> Record:
        members = self._members_of(element.raw)
        keys = [member[0] for member in members]
        self._keys_seen.update(dict.fromkeys(keys))
        return self._record(element.raw, keys, members, element.divider)
