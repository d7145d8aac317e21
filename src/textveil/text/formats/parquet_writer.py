"""Parquet on the way out: the batches that were read, with their column of texts exchanged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.core.errors import BadInput
from textveil.text.atomic import AtomicFile
from textveil.text.documents import Record
from textveil.text.formats.parquet import ParquetReader

if TYPE_CHECKING:
    import pyarrow as pa

_GROUP_BYTES = 32 * 2**20


class ParquetSink:
    """Collects rows to groups of some 32 MB. Columns, types, metadata and codec are those of the file that was read,
    without what stays behind (`written_schema`)."""

    def __init__(self, path: Path, like: ParquetReader):
        import pyarrow.parquet as pq

        self._like = like
        self._batch: pa.RecordBatch | None = None
        self._rows: list[int] = []
        self._texts: list[str] = []
        self._group: list[pa.RecordBatch] = []
        self._group_bytes = 0
        self._file = AtomicFile(path)
        try:
            self._parquet = pq.ParquetWriter(self._file.stream, like.written_schema, compression=like.codec)
        except BaseException:
            self._file.discard()
            raise

    def write(self, record: Record) -> None:
        batch, row = record.row
        if batch is not self._batch:
            self._end_batch()
            self._batch = batch
        self._rows.append(row)
        self._texts.append(record.text)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._group.append(batch)
        self._group_bytes += batch.nbytes
        if self._group_bytes >= _GROUP_BYTES:
            self._end_group()

    def commit(self) -> None:
        try:
            self._end_batch()
            self._end_group()
            self._parquet.close()
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError):
                raise self._file.failed(error) from None
            raise
        self._file.finish()
        self._file.place()

    def discard(self) -> None:
        import pyarrow as pa

        self._file.divert()
        with suppress(OSError, pa.ArrowException):
            self._parquet.close()
        self._file.discard()

    def _end_batch(self) -> None:
        if self._batch is None:
            return
        batch = self._batch if self._rows == list(range(len(self._batch))) else self._batch.take(self._rows)
        place = batch.schema.get_field_index(self._like.text_field)
        texts = self._column(batch.schema.types[place], batch.column(place))
        self.write_batch(batch.set_column(place, batch.schema.field(place), texts))
        self._batch, self._rows, self._texts = None, [], []

    def _column(self, kind: pa.DataType, before: pa.Array) -> pa.Array:
        """The new texts; one that was missing and is still empty stays missing."""
        import pyarrow as pa

        texts: list[str | None] = list(self._texts)
        if before.null_count:
            for i, is_missing in enumerate(before.is_null().to_pylist()):
                if is_missing and not texts[i]:
                    texts[i] = None
        try:
            plain = pa.array(texts, pa.large_string())
        except UnicodeEncodeError:
            raise BadInput("a new text has half a surrogate pair", where=self._like.path) from None
        return plain.cast(kind)

    def _end_group(self) -> None:
        import pyarrow as pa

        if not self._group:
            return
        try:
            self._parquet.write_table(pa.Table.from_batches(self._group, self._like.written_schema))
        except OSError as error:
            raise self._file.failed(error) from None
        self._group, self._group_bytes = [], 0


def concat_parquet(parts: list[Path], out: Path, like: ParquetReader) -> None:
    """One file with the rows of all parts."""
    import pyarrow.parquet as pq

    sink = ParquetSink(out, like)
    try:
        for part in parts:
            with pq.ParquetFile(part) as file:
                for batch in file.iter_batches():
                    sink.write_batch(batch)
    except BaseException:
        sink.discard()
        raise
    sink.commit()
