"""txt: one document per line."""

from __future__ import annotations

from collections.abc import Iterator

from textveil.text.documents import Record
from textveil.text.formats.base import LineReader
from textveil.text.formats.lines import cut_end


class TxtReader(LineReader):
    """`row` is the line end."""

    format = "txt"
    has_fields = False
    is_old_style = True

    def __iter__(self) -> Iterator[Record]:
        for line in self._lines:
            yield Record(*cut_end(line))

    def render(self, record: Record) -> tuple[str, ...]:
        if self._lines.line_end in record.text:
            raise self.bad_text("has more than one line")
        return (record.text + record.row,)
