"""The way back: the original texts of a masked release, for whoever has its map and its key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.core.release import check_free, check_writable, new_folder, read_manifest
from textveil.pii.masking.keys import require_key
from textveil.pii.masking.texts import Replaced, unmask_text
from textveil.pii.masking.vault import digest_of, read_map
from textveil.recipes.progress import Bar
from textveil.text import readers, writers
from textveil.text.documents import replace


@dataclass(frozen=True)
class UnmaskJob:
    """A masked release, the secrets that undo it, and a private folder for the result."""

    folder: Path
    out: Path
    map: Path
    key_file: Path


def unmask_release(job: UnmaskJob, *, bar: Bar) -> dict[str, Any]:
    """Write the file as it was before masking into a folder of its owner, and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    manifest = read_manifest(job.folder)
    release = manifest["parameters"].get("map")
    if manifest["mechanism"] != "pii.mask" or release is None:
        raise BadInput("was not masked with a map, so it cannot be undone", where=job.folder)
    key, _ = require_key(job.key_file)
    next(iter(read_map(job.map, key)), None)
    text_field = (manifest.get("facts", {}).get("data") or {}).get("text_field")
    source = job.folder / manifest["data"]
    has_fields = readers.FORMATS[readers.format_of(source)[0]].has_fields
    reader = readers.open_reader(source, text_field=text_field if has_fields else None)
    rows, records, values = _rows(job, release, key), 0, 0
    with new_folder(job.out, private=True) as hidden, bar("unmasking", reader.size, "bytes") as advance:
        told = 0
        with writers.open_writer(hidden / readers.data_file_name(reader), like=reader) as writer:
            for record in reader:
                row = next(rows, None)
                if row is None or row[0] != digest_of(record.text):
                    raise BadInput("was changed since it was masked", where=source)
                writer.write(replace(record, unmask_text(record.text, row[1])))
                records, values = records + 1, values + len(row[1])
                advance(reader.bytes_read - told)
                told = reader.bytes_read
        if next(rows, None) is not None:
            raise BadInput("was changed since it was masked", where=source)
    return {"out": str(job.out), "records": records, "values": values}


def _rows(job: UnmaskJob, release: str, key: Any) -> Iterator[tuple[str, list[Replaced]]]:
    known = False
    for chunk in read_map(job.map, key):
        if chunk["kind"] == "log" and chunk["release"] == release:
            known = True
            for digest, replaced in chunk["rows"]:
                yield digest, [Replaced(*kept) for kept in replaced]
    if not known:
        raise BadInput("does not know this release", where=job.map, possible="the map that it was made with")


__all__ = ["UnmaskJob", "unmask_release"]
