"""Which sign divides the columns of a csv or tsv file, and how its fields are quoted: read off its first rows, or asked.

A sign is taken only if it cuts every row of the sample into as many columns (two or more) as the first, and the first row
then has the text field (the one asked for, `text`, or names that headers use). Where two signs do, or none does and the
first row holds another sign than the usual one, it must be said: a wrong guess would veil the numbers and publish the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from textveil.core.errors import BadInput
from textveil.text.formats.base import Reading
from textveil.text.formats.lines import cut_end
from textveil.text.formats.names import looks_like_header
from textveil.text.formats.rows import ROWS, RowFault, Rows

SIGNS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}  # that may divide, and how they are named
NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "bar": "|", "space": " "}
_MOST_ROWS = 400  # that are looked at
_SEP = re.compile(r'"?sep=(.)"?(?:\r\n|\r|\n)?', re.IGNORECASE)


@dataclass(frozen=True)
class FirstRows:
    """The beginning of a file as lines. `is_whole`: it is the whole file, so that its last row is complete."""

    lines: list[str]
    line_end: str
    is_whole: bool

    @classmethod
    def of(cls, text: str, line_end: str, *, is_whole: bool) -> FirstRows:
        lines = text.split(line_end, _MOST_ROWS)
        is_whole = is_whole and len(lines) <= _MOST_ROWS
        whole = [line + line_end for line in lines[:-1]]
        return cls([*whole, lines[-1]] if is_whole and lines[-1] else whole, line_end, is_whole)

    @property
    def sep(self) -> re.Match[str] | None:
        """Excel's first line that names the divider: `sep=;`."""
        return _SEP.fullmatch(self.lines[0]) if self.lines else None


class Survey(NamedTuple):
    """The sample under one sign and one way to quote: cells of the first row, fields of all, whether widths are equal."""

    rows: Rows
    cells: list[str]
    spans: list[tuple[str, list[tuple[int, int]]]]
    fits: bool


def survey_rows(rows: Rows, sample: FirstRows) -> Survey:
    """Cut the sample's rows; a row that the sample cuts off is left out."""
    lines = iter(sample.lines[1:] if sample.sep else sample.lines)
    cut = list[tuple[str, list[tuple[int, int]]]]()
    fault = False
    try:
        for line in lines:
            raw, spans = rows.cut(line, lines)
            if not raw.isspace() or not cut:
                cut.append((raw, spans))
    except RowFault as error:
        fault = sample.is_whole or "never closed" not in str(error)
    width = len(cut[0][1]) if cut else 0
    fits = not fault and width > 1 and all(len(spans) == width for _, spans in cut)
    return Survey(rows, _cells(rows, *cut[0]) if cut else [], cut, fits)


def _cells(rows: Rows, raw: str, spans: list[tuple[int, int]]) -> list[str]:
    return [rows.plain(raw[a:b]) for a, b in spans]


def rows_of(sample: FirstRows, reading: Reading, path: Path, *, usual: str, quotes: str) -> Rows:
    """How the rows of this file are cut; `usual` and `quotes` are what its format has where nothing speaks against it."""
    if reading.delimiter is not None:
        return _quoting(sample, require_divider(reading.delimiter), reading, path, quotes).rows
    if sample.sep is not None:
        return _quoting(sample, require_divider(sample.sep[1]), reading, path, quotes).rows
    surveys = {sign: _quoting(sample, sign, reading, path, quotes) for sign in (usual, *(set(SIGNS) - {usual}))}
    fitting = [sign for sign in SIGNS if surveys[sign].fits and has_text_field(surveys[sign].cells, reading)]
    if len(fitting) == 1:
        return surveys[fitting[0]].rows
    others = [sign for sign in SIGNS if sign != usual and sample.lines and sign in cut_end(sample.lines[0])[0]]
    if fitting or (len(surveys[usual].cells) < 2 and others):
        raise BadInput(
            "which sign divides the columns must be said",
            where=path,
            possible=f"--delimiter with {' or '.join(SIGNS[sign] for sign in fitting or (*others, usual))}"
            + ("" if reading.header is not None else ", and --header or --no-header"),
        )
    return surveys[usual].rows


def has_text_field(cells: list[str], reading: Reading) -> bool:
    """Whether a first row of these cells has the text field, as far as it is known."""
    asked = reading.text_field
    if reading.header is False:
        return asked is not None and asked.isdecimal() and 2 <= int(asked) <= len(cells)
    return asked in cells if asked is not None else "text" in cells or looks_like_header(cells)


def require_divider(asked: str) -> str:
    """The sign that was asked for, by itself or by its name.

    >>> require_divider("tab"), require_divider(";")
    ('\\t', ';')
    """
    sign = NAMES.get(asked.lower(), asked)
    if len(sign) != 1 or sign.isalnum() or sign in "\"\\'\r\n":
        raise BadInput(f"the delimiter must be one sign, not {asked!r}", possible="--delimiter ';', ',', '|' or tab")
    return sign


def _quoting(sample: FirstRows, sign: str, reading: Reading, path: Path, quotes: str) -> Survey:
    """The sample under one sign, quoted as asked for, else as its rows tell."""
    if reading.quotes is not None:
        return survey_rows(ROWS[reading.quotes](sign, sample.line_end), sample)
    usual = survey_rows(ROWS[quotes](sign, sample.line_end), sample)
    escaped = (
        survey_rows(ROWS["backslash"](sign, sample.line_end), sample)
        if any('\\"' in line for line in sample.lines)
        else None
    )
    if quotes == "none":
        return _of_bare(usual, sign, sample, escaped)
    if escaped is None or not escaped.fits:
        return usual
    if usual.fits and usual.spans != escaped.spans:
        raise BadInput("how quotes inside of fields are written must be said", where=path, possible=_SAY_QUOTES)
    return escaped if not usual.fits else usual


_SAY_QUOTES = '--quotes doubled (""), or backslash (\\")'


def _of_bare(bare: Survey, sign: str, sample: FirstRows, escaped: Survey | None) -> Survey:
    """A file whose format has no quotes: has it some nevertheless? Only where they show beyond doubt."""
    quoted = survey_rows(ROWS["doubled"](sign, sample.line_end), sample)
    if quoted.fits and (not bare.fits or _has_quoted_cell(*quoted.spans[0]) or _has_doubled(quoted)):
        return quoted
    if escaped is not None and escaped.fits and not bare.fits:
        return escaped
    return bare


def _quoted_cells(raw: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    return (raw[a:b] for a, b in spans if raw[a:b].startswith('"'))


def _has_quoted_cell(raw: str, spans: list[tuple[int, int]]) -> bool:
    return any(True for _ in _quoted_cells(raw, spans))


def _has_doubled(survey: Survey) -> bool:
    return any('""' in cell[1:-1] for raw, spans in survey.spans for cell in _quoted_cells(raw, spans))
