"""Parallel text as pairs of sentences, whatever it is kept in: two files, columns or fields, TMX, XLIFF; Pharaoh
alignments.

    open_pairs("memory.tmx")                                            translation memories, exchange files
    open_pairs("letters.de", "letters.en")                              two files, line by line
    open_pairs("pairs.jsonl", source_field="de", target_field="en")     jsonl, json, csv, tsv, parquet
    open_pairs("pairs.parallel.tsv")                                    two columns without a header

Going through a second time reads the files again. Line ends inside of a sentence become blanks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textveil.core.errors import BadInput
from textveil.text.documents import sides
from textveil.text.formats.exchange import EXCHANGE, exchange_pairs
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.packing import cut_packing
from textveil.text.formats.parallel import pair_from_name
from textveil.text.readers import Reader, format_of, open_reader


class SentencePair(NamedTuple):
    """One sentence in two languages, and where it stands: a line, a row or the number of a unit."""

    source: str
    target: str
    line: int


@dataclass(frozen=True)
class PairFile:
    """What is read, and how. `target`: the second of two files. Languages choose the sides of a TMX file."""

    path: Path
    target: Path | None = None
    source_field: str | None = None
    target_field: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    format: str | None = None
    encoding: str | None = None
    header: bool | None = None
    delimiter: str | None = None

    @property
    def kind(self) -> str:
        """tmx, xliff, or lines."""
        ending = self.format or cut_packing(self.path.name.lower())[0].rpartition(".")[2]
        return EXCHANGE.get(ending, "lines")

    def open(self) -> PairReader:
        return PairReader(self)


class PairReader:
    """The sentence pairs of a file; opening it finds most mistakes."""

    def __init__(self, file: PairFile):
        self.file, self._reader, self._units = file, None, 0
        if file.kind == "lines":
            self._reader = _line_reader(file)
        else:
            check_readable(file.path)
            if file.target is not None:
                raise BadInput(f"a {file.kind} file holds both languages", where=file.path, possible="one file")
            next(iter(self), None)

    def __iter__(self) -> Iterator[SentencePair]:
        if self._reader is None:
            file = self.file
            languages = (file.source_language, file.target_language)
            for self._units, (source, target) in enumerate(exchange_pairs(file.path, file.kind, languages), 1):
                yield SentencePair(_line(source), _line(target), self._units)
            return
        target_field, has_targets = self.file.target_field, self.file.target_field is None
        for record in self._reader:
            line = self._reader.record_line
            if target_field is None:
                yield SentencePair(*sides(record.text), line)
                continue
            target = record.fields[target_field]
            has_targets = has_targets or target is not None
            if target is not None and not isinstance(target, str):
                raise BadInput("is not a string", where=self.file.path, line=line, field=target_field)
            yield SentencePair(_line(record.text), _line(target or ""), line)
        if not has_targets:
            raise BadInput("is in no record", where=self.file.path, field=target_field)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.file.path.stat().st_size if self._reader is None else self._reader.size

    def binding(self) -> dict[str, Any]:
        """What makes two readings the same reading, as JSON values."""
        if self._reader is not None:
            return {**self._reader.binding(), "target_field": self.file.target_field}
        languages = [self.file.source_language, self.file.target_language]
        return {"sources": [str(self.file.path.resolve())], "format": self.file.kind, "languages": languages}

    @property
    def read_as(self) -> str:
        return "" if self._reader is None else self._reader.read_as


def open_pairs(path: str | Path, target: str | Path | None = None, **options: Any) -> PairReader:
    """The sentence pairs of one file, or of two that run in parallel; options are those of `PairFile`."""
    return PairFile(Path(path), None if target is None else Path(target), **options).open()


def _line_reader(file: PairFile) -> Reader:
    fields = (file.source_field, file.target_field)
    if (fields[0] is None) != (fields[1] is None):
        raise BadInput("both languages need a field", where=file.path, possible="--source-field and --target-field")
    if file.target is not None:
        if fields[0] is not None:
            raise BadInput("two files have no fields", where=file.path, possible="one file, or no --source-field")
        return open_reader((file.path, file.target), encoding=file.encoding)
    if fields[0] is None or fields[1] is None:
        if pair_from_name(file.path) is None and (kind := format_of(file.path, file.format)[0]) != "parallel":
            check_readable(file.path)
            what = f"which fields of a {kind} file hold the two languages must be said"
            raise BadInput(what, where=file.path, possible="--source-field and --target-field, or two files")
        return open_reader(file.path, format=file.format, encoding=file.encoding)
    return open_reader(
        file.path, format=file.format, text_field=fields[0], fields=(fields[1],), columns=(), header=file.header,
        delimiter=file.delimiter, encoding=file.encoding,
    )  # fmt: skip


def _line(text: str) -> str:
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text


# ---- alignments in Pharaoh format ---------------------------------------------------------------------------------------


class PharaohReader:
    """Links of each sentence pair, `0-0 1-2 ...` a line, places from 0, source first."""

    def __init__(self, path: Path):
        check_readable(path)
        self.path, self._lines = path, Lines(path)

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        for line in self._lines:
            try:
                yield [(int(a), int(b)) for a, b in (link.split("-") for link in line.split())]
            except ValueError:
                raise self._lines.bad(
                    "is no alignment", possible="links such as 0-0 1-2, a line a sentence pair"
                ) from None

    def check_fits(self, links: list[tuple[int, int]], source_words: int, target_words: int) -> None:
        """Refuse links to words that a sentence pair does not have."""
        for source, target in links:
            if not (0 <= source < source_words and 0 <= target < target_words):
                what = f"links {source}-{target}, but the sentence pair has {source_words} and {target_words} words"
                raise self._lines.bad(what)

    def too_short(self, pairs: int) -> BadInput:
        what = f"ends after line {self._lines.number}, and the text goes on with sentence pair {pairs}"
        return BadInput(what, where=self.path)

    def too_long(self) -> BadInput:
        return self._lines.bad("has no sentence pair beside it: the alignment has more lines than the text")


__all__ = ["PairFile", "PairReader", "PharaohReader", "SentencePair", "open_pairs"]
