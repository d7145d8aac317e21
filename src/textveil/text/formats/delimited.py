"""csv and tsv: rows with as many fields as the first, which is a header or is said not to be one.

Whether the first row is a header is not guessed: it is one when it holds the name of the text field (the one asked for, or
`text`). Where neither is so and the row does not look like one, or there is a single column, `header=` must say it.

Which sign divides and how fields are quoted is read off the first rows (`columns_guess`). Blank lines are skipped, unless
there is only one column.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import ClassVar

from textveil.core.errors import BadInput
from textveil.text.documents import NO_FIELDS, Record
from textveil.text.formats.base import LineReader, columns
from textveil.text.formats.columns_guess import SIGNS, FirstRows, rows_of
from textveil.text.formats.lines import cut_end
from textveil.text.formats.names import check_field, choose_field, listed, looks_like_header
from textveil.text.formats.rows import Row, RowFault, Rows, Span, bare_spans

_QUOTES = {"doubled": "fields in quotes", "backslash": "backslashes before quotes", "none": "no quotes"}


class DelimitedReader(LineReader):
    """`row` is the raw row (without the columns that stay behind), and where in it the text starts and ends."""

    has_header = has_delimiter = is_old_style = True
    usual_divider: ClassVar[str]
    usual_quotes: ClassVar[str]

    def _open(self) -> None:
        sample = self._sample_of(self.path, self.packing)
        self._lines = self._lines_of(sample)
        first = FirstRows.of(sample.text(), self._lines.line_end, is_whole=sample.is_whole)
        reading, self._sep = self.reading, first.lines[0] if first.sep else ""
        self._rows = rows_of(first, reading, self.path, usual=self.usual_divider, quotes=self.usual_quotes)
        line, raw, spans = next(self._numbered_rows(), (0, "", []))
        if not line:
            raise BadInput("holds no records", where=self.path)
        cells = [self._rows.plain(raw[a:b]) for a, b in spans]
        if any("\r" in cell for cell in cells):
            self._check_line_ends(raw)
        self._names = self._names_of(cells)
        self.text_field = self._choose(cells)
        for name in (*reading.fields, *(reading.columns or ())):
            check_field(name, self._names, path=self.path, possible=self._possible())
        for name in (self.text_field, *reading.fields):
            if self._names.count(name) > 1:
                raise BadInput("stands twice in the header", where=self.path, line=line, field=name)
        self._text_column = self._names.index(self.text_field)
        self._field_columns = [(name, self._names.index(name)) for name in reading.fields]
        self._kept = [i for i, name in enumerate(self._names) if i == self._text_column or reading.keeps(name)]
        names = raw if reading.columns is None else self._cut(raw, spans)[0]
        self._header = self._sep + (names if self._has_names else "")

    def _has_quotes(self) -> bool:
        return (self.reading.quotes or self.usual_quotes) != "none"

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
                possible="--header, or --no-header (columns are then named by their numbers)",
            )
        elif self.reading.header is None and asked is None and len(cells) == 1 and cells != ["text"]:
            what = "whether the only column has a header must be said"
            raise BadInput(what, where=self.path, possible="--header, or --no-header")
        return choose_field(dict.fromkeys(self._names, True), asked=asked, path=self.path, possible=self._possible())

    def _possible(self) -> str:
        """What may be asked for; cells are shown only where they are a header beyond doubt."""
        if not self._has_names:
            return f"1 to {len(self._names)}"
        if looks_like_header(self._names):
            return listed(self._names) or ""
        return "a name of the first row, which is not shown because it may be private text, or --no-header"

    # ---- what was taken ---------------------------------------------------------------------------------------------

    def dialect(self) -> dict[str, str]:
        rows, header = self._rows, "yes" if self._has_names else "no"
        return {**super().dialect(), "delimiter": rows.divider, "quotes": rows.quotes, "header": header}

    def _peculiarities(self) -> list[str]:
        rows = self._rows
        sign = SIGNS.get(rows.divider, f"'{rows.divider}'")
        named = [] if rows.divider == self.usual_divider else [f"delimiter {sign}"]
        return [
            *named,
            *super()._peculiarities(),
            *([] if rows.quotes == self.usual_quotes else [_QUOTES[rows.quotes]]),
        ]

    def _passing(self) -> list[str]:
        kept = [self._names[i] for i in self._kept if i != self._text_column]
        return [f"column '{name}'" if self._has_names else f"column {name}" for name in kept]

    @property
    def written_text_field(self) -> str | None:
        return self.text_field if self._has_names else str(self._kept.index(self._text_column) + 1)

    # ---- rows -------------------------------------------------------------------------------------------------------

    def _numbered_rows(self) -> Generator[Row]:
        """The rows, a header among them."""
        counter, divider, (quote, escape) = self._lines, self._rows.divider, self._rows.marks
        with closing(iter(self._lines)) as lines:
            if self._sep:
                next(lines, None)
            following = _Following(lines, self.max_line_bytes)
            for line in lines:
                if quote in line or escape in line:
                    yield self._careful_row(line, following)
                else:
                    yield counter.number, line, bare_spans(cut_end(line)[0], divider)

    def _careful_row(self, line: str, following: _Following) -> Row:
        """A row with signs that may quote or escape, and further lines of it."""
        first, following.length = self._lines.number, len(line)
        try:
            return first, *self._rows.cut(line, following)
        except RowFault as fault:
            raise BadInput(str(fault), where=self.path, line=first, possible=self._other_quotes(fault)) from None

    def _other_quotes(self, fault: RowFault) -> str | None:
        if "longer" in str(fault) or self.reading.quotes is not None:
            return None
        return "--quotes backslash or none, where the file is written so"

    def __iter__(self) -> Iterator[Record]:
        width, column, plain = len(self._names), self._text_column, self._rows.plain
        missing, wanted, all_pass = self._rows.missing, self._field_columns, self.reading.columns is None
        with closing(self._numbered_rows()) as rows:  # at once, also where a row is at fault
            if self._has_names:
                next(rows, None)
            for line, raw, spans in rows:
                if len(spans) != width:
                    if raw.isspace():
                        continue
                    raise self._bad_width(line, len(spans))
                start, end = spans[column]
                text = plain(raw[start:end])
                if missing is not None and raw[start:end] == missing:
                    self._note_missing(line)
                    text = ""
                fields = {name: plain(raw[slice(*spans[i])]) for name, i in wanted} if wanted else NO_FIELDS
                if not all_pass:
                    raw, start, end = self._cut(raw, spans)
                yield Record(text, (raw, start, end), fields)

    def _bad_width(self, line: int, width: int) -> BadInput:
        first = f"the {'header' if self._has_names else 'first row'} has {len(self._names)}"
        return BadInput(f"has {columns(width)} where {first}", where=self.path, line=line)

    def _cut(self, raw: str, spans: list[Span]) -> tuple[str, int, int]:
        """The row with the columns that leave, and the place of the text in it."""
        cells = [raw[slice(*spans[i])] for i in self._kept]
        place = self._kept.index(self._text_column)
        start = sum(len(cell) + 1 for cell in cells[:place])
        return self._rows.divider.join(cells) + cut_end(raw)[1], start, start + len(cells[place])

    def render(self, record: Record) -> tuple[str, ...]:
        raw, start, end = record.row
        if not record.is_new or (not record.text and raw[start:end] == self._rows.missing):
            return (raw,)
        field = self._rows.spelt(record.text, was=raw[start:end])
        if field is None:
            raise self.bad_text(f"has {self._unwritable()}")
        return (raw[:start] + field + raw[end:],)

    def _unwritable(self) -> str:
        """What a text of a file without quotes must not have."""
        return "a tab or a line break" if self._rows.divider == "\t" else f"a '{self._rows.divider}' or a line break"

    def check_words(self, words: str) -> None:
        super().check_words(words)
        if self._rows.spelt(words, was="") is None:
            what = f"the vocabulary has {self._unwritable()}, which a file without quotes cannot hold"
            raise BadInput(what, where=self.path, possible="a file with quotes")


class _Following:
    """The lines after an open quote, as long as a row may be."""

    def __init__(self, lines: Iterator[str], most: int):
        self._lines, self._most, self.length = lines, most, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.length += len(line)
        if self.length > self._most:
            limit = f"{self._most / 2**20:g} MiB, the longest allowed line (--max-line-mb)"
            raise RowFault(f"a row with an open quote is longer than {limit}")
        return line


class TsvReader(DelimitedReader):
    format = "tsv"
    usual_divider, usual_quotes = "\t", "none"


class CsvReader(DelimitedReader):
    format = "csv"
    usual_divider, usual_quotes = ",", "doubled"


__all__ = ["CsvReader", "DelimitedReader", "Rows", "TsvReader"]
