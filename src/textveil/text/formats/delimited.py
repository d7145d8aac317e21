"""csv and tsv: rows with as many fields as the first, which is a header or is said not to be one.

Whether the first row is a header is not guessed: it is one when it holds the name of the text field (the one asked for, or
`text`). Where neither is so and the row does not look like one, or there is a single column, `header=` must say it.

csv follows RFC 4180: commas divide; fields in quotes may hold commas, line breaks and doubled quotes; a quote inside a bare
field is a character like any other. tsv follows the IANA definition: tabs divide, nothing is quoted, a quote means itself.
Blank lines are skipped, unless there is only one column.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from textveil.core.errors import BadInput
from textveil.text.documents import NO_FIELDS, Record
from textveil.text.formats.base import LineReader, columns
from textveil.text.formats.lines import cut_end
from textveil.text.formats.names import check_field, choose_field, listed, looks_like_header

Span = tuple[int, int]  # where a field starts and ends in its row, quotes included
Row = tuple[int, str, list[Span]]  # number of its first line, raw text, fields


class DelimitedReader(LineReader):
    """`row` is the raw row (without the columns that stay behind), and where in it the text starts and ends."""

    has_header = True
    divider: ClassVar[str]

    @abstractmethod
    def _rows(self) -> Iterator[Row]:
        """The rows, a header among them."""

    def _open(self) -> None:
        super()._open()
        line, raw, spans = next(self._rows(), (0, "", []))
        if not line:
            raise BadInput("holds no records", where=self.path)
        cells = [self._unquote(raw[a:b]) for a, b in spans]
        if any("\r" in cell for cell in cells):
            self._check_line_ends(raw)
        self._names = self._names_of(cells)
        self.text_field = self._choose(cells)
        self._header = ""
        for name in (*self.reading.fields, *(self.reading.columns or ())):
            check_field(name, self._names, path=self.path, possible=self._possible())
        for name in (self.text_field, *self.reading.fields):
            if self._names.count(name) > 1:
                raise BadInput("stands twice in the header", where=self.path, line=line, field=name)
        self._text_column = self._names.index(self.text_field)
        self._field_columns = [(name, self._names.index(name)) for name in self.reading.fields]
        self._kept = [i for i, name in enumerate(self._names) if i == self._text_column or self.reading.keeps(name)]
        if self._has_names:
            self._header = raw if self.reading.columns is None else self._cut(raw, spans)[0]

    def _check_line_ends(self, raw: str) -> None:
        if '"' not in raw:
            what = "has carriage returns inside its first row, and they end no line here"
            raise BadInput(what, where=self.path, possible="line ends of Unix (LF) or of Windows (CRLF)")

    def _names_of(self, cells: list[str]) -> list[str]:
        """Names of the columns: the first row's cells, or the columns' numbers where it is no header."""
        self._has_names = self.reading.header is not False
        return cells if self._has_names else [str(number) for number in range(1, len(cells) + 1)]

    def _choose(self, cells: list[str]) -> str:
        asked = self.text_field
        if not self._has_names:
            if asked is None and len(cells) != 1:
                what = "which column holds the text must be said (--text-field with its number)"
                raise BadInput(what, where=self.path, possible=self._possible())
        elif self.reading.header is None and (asked or "text") not in cells and not looks_like_header(cells):
            # Neither taken as names, which would publish a first record, nor shown, which would print it.
            raise BadInput(
                "whether the first row is a header must be said",
                where=self.path,
                field=asked,
                possible=f"--header, or --no-header (columns are then named by their numbers){self._hint(cells)}",
            )
        elif self.reading.header is None and asked is None and len(cells) == 1 and cells != ["text"]:
            raise BadInput(
                "whether the only column has a header must be said",
                where=self.path,
                possible=f"--header, or --no-header{self._hint(cells)}",
            )
        return choose_field(dict.fromkeys(self._names, True), asked=asked, path=self.path, possible=self._possible())

    def _possible(self) -> str:
        """What may be asked for; cells are shown only where they are a header beyond doubt."""
        if not self._has_names:
            return f"1 to {len(self._names)}"
        if looks_like_header(self._names):
            return listed(self._names) or ""
        return "a name of the first row, which is not shown because it may be private text, or --no-header"

    def _hint(self, cells: list[str]) -> str:
        other = next((sign for sign in (";", "\t", "|") if len(cells) == 1 and sign in cells[0]), None)
        divides = {",": "commas", "\t": "tabs"}
        return f"; {divides[self.divider]} divide the columns of a {self.format} file" if other else ""

    def _passing(self) -> list[str]:
        kept = [self._names[i] for i in self._kept if i != self._text_column]
        return [f"column '{name}'" if self._has_names else f"column {name}" for name in kept]

    @property
    def written_text_field(self) -> str | None:
        return self.text_field if self._has_names else str(self._kept.index(self._text_column) + 1)

    def __iter__(self) -> Iterator[Record]:
        rows, width, column = self._rows(), len(self._names), self._text_column
        if self._has_names:
            next(rows, None)
        for line, raw, spans in rows:
            if len(spans) != width:
                if raw.isspace():
                    continue
                what = f"has {columns(len(spans))} where the {'header' if self._has_names else 'first row'} has {width}"
                raise BadInput(what, where=self.path, line=line)
            start, end = spans[column]
            text = self._unquote(raw[start:end])
            fields = {name: self._unquote(raw[slice(*spans[i])]) for name, i in self._field_columns} or NO_FIELDS
            if self.reading.columns is not None:
                raw, start, end = self._cut(raw, spans)
            yield Record(text, (raw, start, end), fields)

    def _cut(self, raw: str, spans: list[Span]) -> tuple[str, int, int]:
        """The row with the columns that leave, and the place of the text in it."""
        cells = [raw[slice(*spans[i])] for i in self._kept]
        place = self._kept.index(self._text_column)
        start = sum(len(cell) + 1 for cell in cells[:place])
        return self.divider.join(cells) + cut_end(raw)[1], start, start + len(cells[place])

    def render(self, record: Record) -> tuple[str, ...]:
        raw, start, end = record.row
        if not record.is_new:
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
    divider = "\t"

    def _rows(self) -> Iterator[Row]:
        for line in self._lines:
            content, _ = cut_end(line)
            yield self._lines.number, line, bare_spans(content, "\t")


class CsvReader(DelimitedReader):
    format = "csv"
    divider = ","

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
            assert field is not None, "the pattern matches the empty string too"
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
