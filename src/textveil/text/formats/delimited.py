"""csv and tsv: a header line, then rows with as many fields.

csv follows RFC 4180: commas divide; fields in quotes may hold commas, line breaks and doubled quotes; a quote inside a bare
field is a character like any other. tsv follows the IANA definition: tabs divide, nothing is quoted, a quote means itself.
Blank lines are skipped, unless there is only one column.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.base import LineReader, choose_field, columns
from textveil.text.formats.lines import cut_end

Span = tuple[int, int]  # where a field starts and ends in its row, quotes included
Row = tuple[int, str, list[Span]]  # number of its first line, raw text, fields


class DelimitedReader(LineReader):
    """`row` is the raw row, the span of the text, and the text that stands there."""

    @abstractmethod
    def _rows(self) -> Iterator[Row]:
        """The header and the rows."""

    def __iter__(self) -> Iterator[Record]:
        rows = self._rows()
        _, self._header, spans = next(rows, (0, "", []))
        names = [self._unquote(self._header[a:b]) for a, b in spans]
        column = self._column(names)
        for line, raw, spans in rows:
            if len(spans) != len(names):
                if raw.isspace():
                    continue
                what = f"has {columns(len(spans))} where the header has {len(names)}"
                raise BadInput(what, where=self.path, line=line)
            start, end = spans[column]
            text = self._unquote(raw[start:end])
            yield Record(text, (raw, start, end, text))

    def _column(self, names: list[str]) -> int:
        self.text_field = choose_field(dict.fromkeys(names, True), asked=self.text_field, path=self.path)
        if names.count(self.text_field) > 1:
            raise BadInput("stands twice in the header", where=self.path, line=1, field=self.text_field)
        return names.index(self.text_field)

    def render(self, record: Record) -> tuple[str, ...]:
        raw, start, end, before = record.row
        if record.text == before:
            return (raw,)
        return (raw[:start] + self._quote(record.text, was=raw[start:end]) + raw[end:],)

    def _unquote(self, field: str) -> str:
        return field

    def _quote(self, text: str, *, was: str) -> str:
        if "\t" in text or "\n" in text:
            raise self.bad_text("has a tab or a line break")
        return text


class TsvReader(DelimitedReader):
    format = "tsv"

    def _rows(self) -> Iterator[Row]:
        for line in self._lines:
            content, _ = cut_end(line)
            yield self._lines.number, line, bare_spans(content, "\t")


class CsvReader(DelimitedReader):
    format = "csv"

    def _rows(self) -> Iterator[Row]:
        lines = iter(self._lines)
        for line in lines:
            first = self._lines.number
            if '"' in line:
                yield first, *self._quoted_row(lines, line, first)
            else:
                yield first, line, bare_spans(cut_end(line)[0], ",")

    def _quoted_row(self, lines: Iterator[str], raw: str, first: int) -> tuple[str, list[Span]]:
        """The row that starts with the line `raw`, and its fields; takes further lines where a quote is open."""
        spans: list[Span] = []
        start, length = 0, len(cut_end(raw)[0])
        while True:
            field = _FIELD.match(raw, start, length)
            end = field.end()
            if field[1] == "":
                raw += self._until_closed(lines, first, len(raw))
                length = len(cut_end(raw)[0])
                continue
            spans.append((start, end))
            if end == length:
                return raw, spans
            if raw[end] != ",":
                raise BadInput("has text after a closing quote", where=self.path, line=first)
            start = end + 1

    def _until_closed(self, lines: Iterator[str], first: int, length: int) -> str:
        """The further lines that an open quoted field runs through, up to the one that closes it."""
        parts: list[str] = []
        for part in lines:
            parts.append(part)
            length += len(part)
            if length > self.max_line_bytes:
                limit = f"{self.max_line_bytes / 2**20:g} MiB, the longest allowed line (--max-line-mb)"
                raise BadInput(f"a row with an open quote is longer than {limit}", where=self.path, line=first)
            if _CLOSES.match(part):
                return "".join(parts)
        raise BadInput("a quote is opened and never closed", where=self.path, line=first)

    def _unquote(self, field: str) -> str:
        return field[1:-1].replace('""', '"') if field.startswith('"') else field

    def _quote(self, text: str, *, was: str) -> str:
        if was.startswith('"') or _NEEDS_QUOTES.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text


_NEEDS_QUOTES = re.compile(r'[,"\r\n]')
_INSIDE = r'(?:[^"]++|"")*+'
_FIELD = re.compile(rf'"{_INSIDE}("?)|[^,"][^,]*|')  # an empty group: the quote is still open
_CLOSES = re.compile(f'{_INSIDE}"')


def bare_spans(content: str, divider: str) -> list[Span]:
    r"""The fields of a row without quotes.

    >>> bare_spans("7\ttea", "\t")
    [(0, 1), (2, 5)]
    """
    spans, start = [], 0
    for field in content.split(divider):
        spans.append((start, start + len(field)))
        start += len(field) + 1
    return spans
