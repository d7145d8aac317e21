"""Open a file as records, whatever its format: chosen by the name's ending or by a flag."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from textveil.core.errors import BadInput, BadParameter, UnknownName
from textveil.core.params import choice
from textveil.text.formats.base import Reader, Reading
from textveil.text.formats.conll import ConllReader
from textveil.text.formats.delimited import CsvReader, TsvReader
from textveil.text.formats.json_array import JsonReader
from textveil.text.formats.jsonl import JsonlReader
from textveil.text.formats.lines import DEFAULT_MAX_LINE
from textveil.text.formats.packing import cut_packing
from textveil.text.formats.parallel import PairReader, ParallelReader, pair_from_name
from textveil.text.formats.parquet import ParquetReader
from textveil.text.formats.rows import ROWS
from textveil.text.formats.txt import TxtReader

__all__ = [
    "DEFAULT_MAX_LINE",
    "FORMATS",
    "NULLS",
    "FileOptions",
    "Reader",
    "ReadingOptions",
    "data_file_name",
    "format_of",
    "open_reader",
]

_log = logging.getLogger("textveil.text")

FORMATS: dict[str, type[Reader]] = {
    reader.format: reader
    for reader in (TxtReader, CsvReader, TsvReader, JsonlReader, JsonReader, ParquetReader, ConllReader, ParallelReader)
}
NULLS = ("keep", "refuse")
_ENDINGS = {
    ".parallel.tsv": "parallel",
    ".txt": "txt",
    ".text": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".conll": "conll",
    ".conllu": "conll",
    ".iob": "conll",
    ".bio": "conll",
}
_POSSIBLE = (
    f"a file name that ends in one of {', '.join(e for e in _ENDINGS)} (or these with .gz, .bz2, .xz), or --format"
)


class ReadingOptions(TypedDict, total=False):
    """The options of `open_reader` that say how a file is to be understood; every verb that reads a file has them."""

    format: str | None
    text_field: str | None
    header: bool | None
    nulls: str
    delimiter: str | None
    encoding: str | None
    quotes: str | None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The same as fields, for the job of a journey: `open_reader(job.source, **job.reading())`."""

    text_field: str | None = None
    format: str | None = None
    header: bool | None = None
    nulls: str = "keep"
    delimiter: str | None = None
    encoding: str | None = None
    quotes: str | None = None

    def reading(self) -> ReadingOptions:
        """These options alone."""
        return ReadingOptions(
            text_field=self.text_field,
            format=self.format,
            header=self.header,
            nulls=self.nulls,
            delimiter=self.delimiter,
            encoding=self.encoding,
            quotes=self.quotes,
        )


def open_reader(
    path: str | Path | tuple[str | Path, str | Path],
    *,
    format: str | None = None,
    text_field: str | None = None,
    fields: Iterable[str] = (),
    columns: Iterable[str] | None = None,
    header: bool | None = None,
    nulls: str = "keep",
    delimiter: str | None = None,
    encoding: str | None = None,
    quotes: str | None = None,
    max_line_bytes: int = DEFAULT_MAX_LINE,
) -> Reader:
    """The records of the file at `path`; of two files that run in parallel, given as a pair or as `letters.en+de`.

    - `format`: one of `FORMATS`, with `.gz`, `.bz2` or `.xz` when the name does not say that the file is compressed;
    - `text_field`: the field that holds the text (of conll: the number of the column, from 1); by default `text`, or the
      only one of strings;
    - `fields`: further fields whose values come with each record, as a dict (of conll: columns, a list of values each);
    - `columns`: what leaves with the text when records are written: None all, () only the text, else these;
    - `header`: whether the first row of a csv or tsv file is a header; None where the file itself makes it plain;
    - `nulls`: a missing text (null) is kept as such (`keep`; a record's text is then "") or refused (`refuse`);
    - `delimiter`, `quotes` (csv, tsv), `encoding`: None to take what the file's beginning shows. What was taken is in
      `read_as` of the reader, and in the log "textveil.text".
    """
    if max_line_bytes < 1:
        raise BadParameter("max_line_bytes", max_line_bytes, "at least 1")
    choice("nulls", nulls, NULLS)
    if quotes is not None:
        choice("quotes", quotes, tuple(ROWS))
    kept = None if columns is None else _names("columns", columns)
    reading = Reading(
        text_field, _names("fields", fields), kept, header, nulls, delimiter, encoding, quotes, max_line_bytes
    )
    reader = _opened(path, format, reading)
    if reader.read_as:
        _log.info("%s: read as %s", reader.path.name, reader.read_as)
    return reader


def _opened(path: str | Path | tuple[str | Path, str | Path], format: str | None, reading: Reading) -> Reader:
    pair = (Path(path[0]), Path(path[1])) if isinstance(path, tuple) else pair_from_name(Path(path))
    if pair is not None:
        if format is not None and cut_packing(format)[0] != "parallel":
            raise BadInput(f"two files are read as parallel text, not as {format}", where=pair[0])
        return PairReader(pair, reading)
    path = Path(path)  # type: ignore[arg-type]
    name, packing = format_of(path, format)
    return FORMATS[name](path, reading, packing=packing)


def _names(parameter: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise BadParameter(parameter, names, "a list of names")
    return tuple(dict.fromkeys(names))


def format_of(path: Path, asked: str | None = None) -> tuple[str, str]:
    """The format's name, and how the file is compressed ("": not at all).

    >>> format_of(Path("letters.ndjson.gz"))
    ('jsonl', 'gz')
    """
    name, packing = cut_packing(path.name.lower())
    if asked is not None:
        plain, asked_packing = cut_packing(asked)
        if plain not in FORMATS:
            raise UnknownName("format", asked, FORMATS)
        return plain, asked_packing or packing
    for ending, known in _ENDINGS.items():
        if name.endswith(ending):
            return known, packing
    raise BadInput("has no ending that names a format", where=path, possible=_POSSIBLE)


def data_file_name(reader: Reader) -> str:
    """The name under which a release keeps data of this reader's format; `open_reader` understands it without a flag."""
    ending = reader.ending if isinstance(reader, PairReader) else _ENDING_OF.get(reader.format, f".{reader.format}")
    return f"data{ending}" + (f".{reader.packing}" if reader.packing else "")


_ENDING_OF = {"parallel": ".parallel.tsv"}
