"""Write records in the format they were read from, atomically, in one go or in parts.

A long job writes parts (`part=True`: no header) and puts them together at the end (`concat_parts`), so that after a crash
only the unfinished part is done again.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from textveil.core.errors import BadInput
from textveil.text.atomic import AtomicFile
from textveil.text.documents import Record
from textveil.text.formats.base import LineReader, Reader
from textveil.text.formats.packing import PACKINGS
from textveil.text.formats.parallel import PairReader, pair_from_name
from textveil.text.formats.parquet import ParquetReader
from textveil.text.formats.parquet_writer import ParquetSink, concat_parquet


class Writer:
    """Takes records; a context manager. Leaving it cleanly puts the file (or the pair of files) in place."""

    def __init__(self, path: Path, like: Reader, *, part: bool = False):
        self.path, self.records_written = path, 0
        self._sink: ParquetSink | LineSink
        if isinstance(like, ParquetReader):
            self._sink = ParquetSink(path, like)
        elif isinstance(like, LineReader):
            self._sink = LineSink(path, like, part=part)
        else:
            raise TypeError(f"no way to write the format {like.format}")

    def write(self, record: Record) -> None:
        self._sink.write(record)
        self.records_written += 1

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._sink.commit()
        else:
            self._sink.discard()


def open_writer(path: str | Path, like: Reader, *, part: bool = False) -> Writer:
    """A writer of the format that `like` reads. Of parallel files, `path` names both: `data.en+de`."""
    return Writer(Path(path), like, part=part)


def concat_parts(parts: Sequence[str | Path], out: str | Path, like: Reader) -> None:
    """Put parts together, in this order, to what one writer would have written. (Packed parts stay members of one file.)"""
    if isinstance(like, ParquetReader):
        concat_parquet([Path(part) for part in parts], Path(out), like)
        return
    assert isinstance(like, LineReader)
    files = [_files(Path(part), like) for part in parts]
    with ExitStack() as stack:
        for side, (path, head) in enumerate(zip(_files(Path(out), like), like.head, strict=True)):
            target = stack.enter_context(AtomicFile(path))
            if head:
                data = head.encode(like.all_lines[side].encoding)
                target.write(PACKINGS[like.packing].pack(data) if like.packing else data)
            for pair in files:
                _append(pair[side], target)


class LineSink:
    """Rendered records into one file, or side by side into two."""

    def __init__(self, path: Path, like: LineReader, *, part: bool):
        self._like, self._render = like, like.render
        encodings = [lines.encoding for lines in like.all_lines]
        self._line_ends = tuple(lines.line_end for lines in like.all_lines)
        self._last_end = self._line_ends[-1] if like.ends_lines else ""
        self._ended = True
        self._files: list[AtomicFile] = []
        try:
            for file in _files(path, like):
                self._files.append(AtomicFile(file, packing=like.packing))
            self._sides = tuple(zip(self._files, encodings, strict=True))  # looked up once, not once a record
            if not part:
                self._put(like.head)
        except BaseException:
            self.discard()
            raise

    def write(self, record: Record) -> None:
        rendered = self._render(record)
        if not self._ended:  # the last line of the input had no line end, and is not the last one here
            self._put(self._line_ends)
        self._put(rendered)
        self._ended = rendered[-1].endswith(self._last_end)

    def _put(self, texts: tuple[str, ...]) -> None:
        for (file, encoding), text in zip(self._sides, texts, strict=True):
            try:
                data = text.encode(encoding)
            except UnicodeEncodeError as error:
                half = "\ud800" <= text[error.start] <= "\udfff"
                what = "half a surrogate pair" if half else f"a character that {encoding} does not have"
                raise self._like.bad_text(f"has {what}") from None
            file.write(data)

    def commit(self) -> None:
        try:
            for file in self._files:  # of a pair, both are safe on the disk before one takes its name
                file.finish()
            for file in self._files:
                file.place()
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        for file in self._files:
            file.discard()


def _files(path: Path, like: Reader) -> tuple[Path, ...]:
    """The files that `path` stands for."""
    if not isinstance(like, PairReader):
        return (path,)
    pair = pair_from_name(path)
    if pair is None:
        raise BadInput("does not name two files", where=path, possible="a name such as data.en+de")
    return pair


def _append(part: Path, target: AtomicFile) -> None:
    try:
        with part.open("rb") as source:
            shutil.copyfileobj(source, target.stream, 2**20)
    except OSError as error:
        raise target.failed(error) from None
