"""Which layout a column file has, by its first lines; what is not understood is refused, for it would pass in clear."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.text.formats.base import Reading
from textveil.text.formats.conll_layouts import MARK, Bars, Columns, ConllU, Layout, cells

SAMPLE = 400  # lines that are looked at
_REPEATS = 0.3  # a share of equal words above which a column repeats them: tags never reach it, lemmas always do
_CONSTANT = 3  # tokens from which a column that never changes holds no words


def layout_of(lines: Sequence[str], reading: Reading, path: Path) -> Layout:
    """The layout of the file that begins with `lines`."""
    all_pass = reading.columns is None
    token_lines = [line for line in lines if not line.isspace() and line.split(maxsplit=1)[0] != MARK]
    rows = [row for line in token_lines if not line.startswith("#") and (row := _row(line))]
    if rows and len(rows[0]) == ConllU.WIDTH and rows[0][0].split("-")[0].split(".")[0].isdecimal():
        if reading.text_field not in (None, "2"):
            raise BadInput("CoNLL-U has its words in column 2", where=path, field=reading.text_field, possible="2")
        return ConllU(reading.keeps, all_pass=all_pass)
    if _has_bars(token_lines):
        if reading.text_field not in (None, "1"):
            raise BadInput("the word is the first part of a token", where=path, field=reading.text_field, possible="1")
        width = 1 + min(item.count("|") for item in token_lines[0].split())
        return Bars(max(width, 2), 0, reading.keeps, all_pass=all_pass)
    if not token_lines:
        raise BadInput("holds no tokens", where=path)
    width, column = len(cells(token_lines[0])), _number(reading.text_field or "1", path)
    if column >= width:
        raise BadInput(f"there is no such column, only {width}", where=path, field=reading.text_field)
    layout = Columns(width, column, reading.keeps, all_pass=all_pass)
    if reading.text_field is None and width > 1:
        _check_words(lines, path)
    _check_repeats([row for row in map(_row, token_lines) if len(row) == width], layout, path)
    return layout


def _row(line: str) -> list[str]:
    return [match[0] for match in cells(line)]


def _has_bars(token_lines: list[str]) -> bool:
    items = [item for line in token_lines if "\t" not in line for item in line.split()]
    return 2 * sum("|" in item.strip("|") for item in items) > len(items)


def _number(asked: str, path: Path) -> int:
    if not asked.isdecimal() or int(asked) < 1:
        raise BadInput("is not the number of a column", where=path, field=asked, possible="1, 2, 3 ...")
    return int(asked) - 1


def _check_words(lines: Sequence[str], path: Path) -> None:
    """Refuse a first column that counts the tokens, or is the same for all: the words stand elsewhere."""
    sentences = [
        [_row(line)[0] for line in sentence]
        for is_token, sentence in groupby(
            lines, key=lambda line: not line.isspace() and line.split(maxsplit=1)[0] != MARK
        )
        if is_token
    ]
    counts = all(
        words == [str(n) for n in range(first, first + len(words))]
        for words in sentences
        for first in [1 if words[0] == "1" else 0]
    )
    words = [word for sentence in sentences for word in sentence]
    if counts or (len(words) >= _CONSTANT and len(set(words)) == 1):
        raise BadInput(
            "column 1 counts the tokens or never changes, so which column holds the words must be said (--text-field)",
            where=path,
            possible="the number of the column",
        )


def _check_repeats(rows: list[list[str]], layout: Layout, path: Path) -> None:
    """Refuse a column that would carry the words through, such as their lemmas."""
    rows = [row for row in rows if any(char.isalpha() for char in row[layout.column])]
    for i in layout.kept:
        equal = sum(row[i].lower() == row[layout.column].lower() for row in rows)
        if i != layout.column and rows and equal >= _REPEATS * len(rows):
            raise BadInput(
                f"column {i + 1} repeats the words of column {layout.column + 1}, so it may not pass",
                where=path,
                possible="--only-text, --columns without it, or a file without that column",
            )
