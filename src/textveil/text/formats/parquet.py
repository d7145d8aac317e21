"""parquet: a table in columns, read and written in batches of rows. Needs pyarrow, which is loaded when first used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.core.errors import BadInput
from textveil.text.documents import NO_FIELDS, Record
from textveil.text.formats.base import Reader
from textveil.text.formats.names import check_field, choose_field, listed

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_ROWS_AT_ONCE = 1024
_BUFFER = 2**20
_FIELD_ID = b"PARQUET:field_id"  # the number of a column, made by every writer


class ParquetReader(Reader):
    """`row` is (batch of rows, number of the row in it). All columns but the text stay in arrow's hands."""

    format = "parquet"

    def _open(self) -> None:
        if self.packing:
            raise BadInput(f"parquet compresses by itself and is not read from .{self.packing}", where=self.path)
        if self.reading.encoding is not None:
            raise BadInput("the strings of parquet are UTF-8: leave --encoding out", where=self.path)
        self._rows = 0
        with _file(self.path) as file:
            self.schema: pa.Schema = file.schema_arrow
            self._total = file.metadata.num_rows
            self.codec = _codec(file.metadata)
        kinds = {field.name: _is_string(field.type) for field in self.schema}
        self.text_field = choose_field(kinds, asked=self.text_field, path=self.path)
        for name in (*self.reading.fields, *(self.reading.columns or ())):
            check_field(name, kinds, path=self.path, possible=listed(kinds))
        for name in (self.text_field, *self.reading.fields, *(self.reading.columns or ())):
            if self.schema.names.count(name) > 1:
                raise BadInput("stands twice in the schema", where=self.path, field=name)
        if not kinds[self.text_field]:
            raise BadInput("is not a column of strings", where=self.path, field=self.text_field)
        self.written_schema = self._schema_of_kept()

    def _schema_of_kept(self) -> pa.Schema:
        """The schema that a writer uses. Metadata may tell of columns that stay behind, so it stays behind with them."""
        import pyarrow as pa

        if self.reading.columns is None:
            return self.schema
        kept = [field for field in self.schema if field.name == self.text_field or self.reading.keeps(field.name)]
        return pa.schema([field.remove_metadata() for field in kept])

    def _passing(self) -> list[str]:
        columns = [f"column '{field.name}'" for field in self.written_schema if field.name != self.text_field]
        keys = [f"metadata '{_word(key)}'" for key in self.written_schema.metadata or {}]
        keys += [
            f"metadata '{_word(key)}' of column '{field.name}'"
            for field in self.written_schema
            for key in field.metadata or {}
            if key != _FIELD_ID
        ]
        return columns + keys

    @property
    def lines_read(self) -> int:
        return self._rows

    @property
    def bytes_read(self) -> int:
        return self.size * self._rows // max(self._total, 1)

    def __iter__(self) -> Iterator[Record]:
        import pyarrow as pa

        self._rows = 0
        try:
            with _file(self.path) as file:
                for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=self._wanted()):
                    yield from self._records(batch)
        except (pa.ArrowException, OSError):
            raise BadInput(f"cannot be read after row {self._rows}: the file is damaged", where=self.path) from None

    def _wanted(self) -> list[str] | None:
        """The columns to read; None for all."""
        if self.reading.columns is None:
            return None
        return list(dict.fromkeys((*self.written_schema.names, *self.reading.fields)))

    def _records(self, batch: pa.RecordBatch) -> Iterator[Record]:
        values = {name: batch.column(name).to_pylist() for name in self.reading.fields}
        kept = batch if self.reading.columns is None else batch.select(self.written_schema.names)
        for i, text in enumerate(batch.column(self.text_field).to_pylist()):
            self._rows += 1
            if text is None:
                self._note_missing(self._rows)
            fields = {name: column[i] for name, column in values.items()} if values else NO_FIELDS
            yield Record(text or "", (kept, i), fields)


def _word(key: bytes) -> str:
    return key.decode(errors="replace")


def _codec(metadata: pq.FileMetaData) -> str:
    """How the file's first column is compressed, in the words of the writer."""
    if not metadata.num_row_groups or not metadata.num_columns:
        return "snappy"
    name = metadata.row_group(0).column(0).compression.lower()
    return name if name in ("snappy", "gzip", "brotli", "lz4", "zstd") else "none"


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return _is_string(kind.value_type)
    return is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind)


def _file(path: Path) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # With a buffer, columns are read as a stream; without, a row group would be in memory as a whole.
        return pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError):
        raise BadInput("is not a parquet file", where=path) from None
