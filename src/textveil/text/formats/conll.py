"""conll: tokens in columns, sentences divided by blank lines; also CoNLL-U and spaCy's .iob (see `conll_layouts`).

A record is a sentence and its text the tokens with blanks between; on the way back each token goes into its own place, and
what passes stays. Lines whose first column is `-DOCSTART-` are marks, not text. All tokens must have as many columns as the
first. A comment (`# text = ...`) is refused, and left out in CoNLL-U: it may repeat the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from textveil.core.errors import BadInput
from textveil.text.documents import NO_FIELDS, Record
from textveil.text.formats.base import LineReader
from textveil.text.formats.conll_kinds import SAMPLE, layout_of
from textveil.text.formats.conll_layouts import ConllU

_DIVIDES = re.compile(r"[\t\r\n]")


class ConllReader(LineReader):
    """`row` is the list of what passes and the tokens, in turn."""

    format = "conll"

    def _open(self) -> None:
        super()._open()
        self._layout = layout_of(list(islice(self._lines, SAMPLE)), self.reading, self.path)
        self.text_field = str(self._layout.column + 1)
        self._field_columns = [(name, self._place(name)) for name in self.reading.fields]
        for name in self.reading.columns or ():
            self._place(name)
        self._first_line = 0

    def _place(self, name: str) -> int:
        """The column that a number stands for, counted from 1, or from the end where it is below 0."""
        width = self._layout.width
        number = int(name) if re.fullmatch(r"-?[1-9]\d*", name) else 0
        if not 1 <= abs(number) <= width:
            raise BadInput("there is no such column", where=self.path, field=name, possible=f"1 to {width}")
        return number - 1 if number > 0 else width + number

    @property
    def is_conllu(self) -> bool:
        return isinstance(self._layout, ConllU)

    @property
    def columns(self) -> int:
        """How many columns (of bars: parts) a token has."""
        return self._layout.width

    @property
    def record_line(self) -> int:
        return self._first_line

    def _passing(self) -> list[str]:
        return self._layout.passing() if self.reading.columns != () else []

    @property
    def written_text_field(self) -> str | None:
        return str(self._layout.written_column() + 1)

    def __iter__(self) -> Iterator[Record]:
        layout, fault, wants_fields = self._layout, self._lines.bad, bool(self.reading.fields)
        pieces, values = [""], list[list[str]]()
        length, begins, inside, number = 0, 0, False, 0
        for line in self._lines:
            number += 1
            if layout.divides(line):
                inside = False
                pieces[-1] += layout.between(line)
                length += len(line)
                continue
            if not inside or layout.sentence_a_line:
                if begins:
                    if len(pieces) > 1:
                        yield self._sentence(pieces, values, begins)
                else:
                    self._header = pieces[0]
                pieces, values, length, begins, inside = [""], [], 0, number, True
            cut = layout.cut(line, fault)
            pieces[-1] += cut[0]
            pieces += cut[1:]
            if wants_fields:
                values += layout.values(line)
            length += len(line)
            if length > self.max_line_bytes:
                raise fault(f"a sentence is longer than {self.max_line_bytes / 2**20:g} MiB (--max-line-mb)")
        if len(pieces) > 1:
            yield self._sentence(pieces, values, begins)

    def _sentence(self, pieces: list[str], values: list[list[str]], begins: int) -> Record:
        self._first_line = begins
        pieces[-1] += self._layout.end()
        fields = {name: [row[i] for row in values] for name, i in self._field_columns} or NO_FIELDS
        return Record(" ".join(pieces[1::2]), pieces, fields)

    def render(self, record: Record) -> tuple[str, ...]:
        pieces = record.row
        if not record.is_new:
            return ("".join(pieces),)
        words, new = iter(record.text.split(" ")), list(pieces)
        try:
            for i in range(1, len(pieces), 2):
                # A token in a file with tabs may hold blanks itself, and takes as many words from the text.
                new[i] = " ".join([next(words) for _ in range(pieces[i].count(" ") + 1)])
        except StopIteration:
            raise self.bad_text("has fewer tokens than its sentence") from None
        if next(words, None) is not None:
            raise self.bad_text("has more tokens than its sentence")
        if any(not token or _DIVIDES.search(token) for token in new[1::2]):
            raise self.bad_text("has an empty token or one with a tab or line break")
        return ("".join(new),)
