r"""Rows of a csv or tsv file, cut open at their fields: three ways to quote, any sign that divides.

doubled      RFC 4180: fields in quotes may hold dividers, line breaks and doubled quotes; a quote inside a bare field is a
             character like any other
backslash    a backslash takes the meaning of a quote, a divider or a backslash away (MySQL, `escapechar` of Python);
             \n, \t and \r are what they are everywhere, and a bare \N is a missing value
none         nothing is quoted, a quote means itself (the IANA definition of tsv)
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from textveil.text.formats.lines import cut_end

Span = tuple[int, int]  # where a field starts and ends in its row, quotes included
Row = tuple[int, str, list[Span]]  # number of its first line, raw text, fields


class RowFault(Exception):
    """What is wrong with a row, in words for a message."""


class Rows(ABC):
    """How the rows of one file are cut. `divider` is one character, and so is what ends a line."""

    quotes: ClassVar[str]
    marks: ClassVar[tuple[str, str]]  # a line with neither is a row that is cut at its dividers
    missing: ClassVar[str | None] = None  # a field that says that there is no value

    def __init__(self, divider: str, line_end: str = "\n"):
        self.divider, self.line_end = divider, line_end

    @abstractmethod
    def cut(self, line: str, more: Iterator[str]) -> tuple[str, list[Span]]:
        """The row that starts with `line`, and its fields; takes further lines where a quote is open."""

    @abstractmethod
    def plain(self, field: str) -> str:
        """What a field means."""

    @abstractmethod
    def spelt(self, text: str, *, was: str) -> str | None:
        """The text as a field, in quotes where `was` had them; None where it cannot be written."""


class BareRows(Rows):
    """Nothing is quoted."""

    quotes = "none"
    marks = ("\0no mark", "\0no mark")

    def cut(self, line: str, more: Iterator[str]) -> tuple[str, list[Span]]:
        return line, bare_spans(cut_end(line)[0], self.divider)

    def plain(self, field: str) -> str:
        return field

    def spelt(self, text: str, *, was: str) -> str | None:
        return None if self.divider in text or self.line_end in text else text


class QuotedRows(Rows):
    """Fields may stand in quotes."""

    quotes = "doubled"
    marks = ('"', '"')
    inside = r'(?:[^"]++|"")*+'

    def __init__(self, divider: str, line_end: str = "\n"):
        super().__init__(divider, line_end)
        sign = re.escape(divider)
        self._field = re.compile(rf'"{self.inside}("?)|{self._bare(sign)}')  # an empty group: the quote is still open
        self._closes = re.compile(f'{self.inside}"')
        self._needs_quotes = re.compile(rf'[{sign}"\r\n]')

    def _bare(self, sign: str) -> str:
        return rf'[^{sign}"][^{sign}]*|'

    def cut(self, line: str, more: Iterator[str]) -> tuple[str, list[Span]]:
        raw, spans, start, length = line, list[Span](), 0, len(cut_end(line)[0])
        while True:
            field = self._field.match(raw, start, length)
            assert field is not None, "the pattern matches the empty string too"
            end = field.end()
            if field[1] == "":
                raw = self._closed(raw, start, more)
                length = len(cut_end(raw)[0])
                continue
            spans.append((start, end))
            if end == length:
                return raw, spans
            if raw[end] != self.divider:
                raise RowFault("has text after a closing quote")
            start = end + 1

    def _closed(self, raw: str, start: int, more: Iterator[str]) -> str:
        """The row with the further lines that its open field runs through, up to the one that closes it."""
        parts = [raw]
        for part in more:
            parts.append(part)
            if self._closes.match(part):
                return "".join(parts)
        raise RowFault("a quote is opened and never closed")

    def plain(self, field: str) -> str:
        return field[1:-1].replace('""', '"') if field.startswith('"') else field

    def spelt(self, text: str, *, was: str) -> str | None:
        if was.startswith('"') or self._needs_quotes.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text


class EscapedRows(QuotedRows):
    r"""Quotes, and backslashes before what is meant as itself.

    >>> rows = EscapedRows(",")
    >>> raw, spans = rows.cut(r'7,"say \"hi\", then",a\,b', iter(()))
    >>> [rows.plain(raw[a:b]) for a, b in spans]
    ['7', 'say "hi", then', 'a,b']
    """

    quotes = "backslash"
    marks = ('"', "\\")
    missing = "\\N"
    inside = r'(?:[^"\\]++|\\[\s\S]|"")*+'

    def _bare(self, sign: str) -> str:
        return rf"(?:[^{sign}\\]++|\\[\s\S]|\\\Z)*+"

    def plain(self, field: str) -> str:
        if field.startswith('"'):
            return _ESCAPED_OR_DOUBLED.sub(_meaning, field[1:-1])
        return _ESCAPED.sub(_meaning, field) if "\\" in field else field

    def spelt(self, text: str, *, was: str) -> str | None:
        if not was.startswith('"') and "\\" not in text and not self._needs_quotes.search(text):
            return text
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_ESCAPED = re.compile(r"\\([\s\S])")
_ESCAPED_OR_DOUBLED = re.compile(r'\\([\s\S])|""')
_MEANS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


def _meaning(pair: re.Match[str]) -> str:
    return _MEANS.get(pair[1], pair[1]) if pair[1] else '"'


ROWS: dict[str, type[Rows]] = {rows.quotes: rows for rows in (QuotedRows, EscapedRows, BareRows)}


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
