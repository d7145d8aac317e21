"""conll: one token per line in columns, sentences divided by blank lines.

A record is a sentence and its text the tokens with blanks between; on the way back each token goes into its own line, and
all other columns stay. Columns are divided by tabs, or by blanks where a line has no tab. Lines whose first column is
`-DOCSTART-` are marks, not text. All token lines must have as many columns as the first. A comment that repeats the
sentence (`# text = ...`) is refused, since it would carry the sentence through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.base import LineReader, columns

_BY_BLANKS = re.compile(r"[^ \r\n]+")
_BY_TABS = re.compile(r"[^\t\r\n]+")
_MARK = "-DOCSTART-"
_SENTENCE_COMMENT = re.compile(r"#\s*text\S*\s*=")


class ConllReader(LineReader):
    """`row` is (lines, span of the token in each line or None, text)."""

    format = "conll"

    def _open(self) -> None:
        super()._open()
        asked = self.text_field or "1"
        if not asked.isdecimal() or int(asked) < 1:
            raise BadInput("is not the number of a column", where=self.path, field=asked, possible="1, 2, 3 ...")
        self.text_field, self._column = asked, int(asked) - 1

    def __iter__(self) -> Iterator[Record]:
        self._columns = 0
        lines: list[str] = []
        spans: list[tuple[int, int] | None] = []
        length, inside, started = 0, False, False
        for line in self._lines:
            span = self._token(line)
            if span is not None and not inside and started:
                yield _sentence(lines, spans)
                lines, spans, length = [], [], 0
            elif span is not None and not started:
                self._header, lines, spans, length, started = "".join(lines), [], [], 0, True
            inside = span is not None
            lines.append(line)
            spans.append(span)
            length += len(line)
            if length > self.max_line_bytes:
                raise self._lines.bad(f"a sentence is longer than {self.max_line_bytes / 2**20:g} MiB (--max-line-mb)")
        if not started:
            raise BadInput("holds no tokens", where=self.path)
        yield _sentence(lines, spans)

    def _token(self, line: str) -> tuple[int, int] | None:
        """Where the token stands, or None on a line that divides sentences."""
        if line.isspace() or line.split(maxsplit=1)[0] == _MARK:
            return None
        if _SENTENCE_COMMENT.match(line):
            raise self._lines.bad("is a comment that repeats the text; take such lines out first")
        found = list((_BY_TABS if "\t" in line else _BY_BLANKS).finditer(line))
        self._columns = self._columns or len(found)
        if len(found) != self._columns:
            raise self._lines.bad(f"has {columns(len(found))} where the first token has {self._columns}")
        if self._column >= len(found):
            raise self._lines.bad(f"there is no such column, only {len(found)}", field=self.text_field)
        return found[self._column].span()

    def render(self, record: Record) -> tuple[str, ...]:
        lines, spans, before = record.row
        if record.text == before:
            return ("".join(lines),)
        words = iter(record.text.split(" "))
        new = []
        try:
            for line, span in zip(lines, spans, strict=True):
                new.append(line if span is None else self._put(words, line, *span))
        except StopIteration:
            raise self.bad_text("has fewer tokens than its sentence") from None
        if next(words, None) is not None:
            raise self.bad_text("has more tokens than its sentence")
        return ("".join(new),)

    def _put(self, words: Iterator[str], line: str, start: int, end: int) -> str:
        # A token in a file with tabs may hold blanks itself, and takes as many words from the text.
        token = " ".join([next(words) for _ in range(line.count(" ", start, end) + 1)])
        if not token or _DIVIDES.search(token):
            raise self.bad_text("has an empty token or one with a tab or line break")
        return line[:start] + token + line[end:]


_DIVIDES = re.compile(r"[\t\r\n]")


def _sentence(lines: list[str], spans: list[tuple[int, int] | None]) -> Record:
    tokens = [line[slice(*span)] for line, span in zip(lines, spans, strict=True) if span is not None]
    text = " ".join(tokens)
    return Record(text, (lines, spans, text))
