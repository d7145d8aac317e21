"""Attack a masked release: who can still be named, or linked.

With the original (`--truth`) the people are those that the patterns and a second recogniser find in it, one candidate a
document; with `--records` as well they are the records, matched to documents by `id`. The second recogniser (`--recogniser`;
capitalised words and dates without it) also reads the masked texts. Fields of a record that hold a name, a birth date or a
number name a person; all others (age, place, job) are facts that many share. With `--other` two masked releases are linked by
their pseudonyms: documents belong together that have the same `id`, or the same place where there are no ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.exposure import Owners
from textveil.attacks.pii.seen import MaskedSeen
from textveil.core import BadInput, read_manifest
from textveil.noise import Source
from textveil.pii.recognisers import NAMES, PATTERNS, Recognisers, load
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.text import readers
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects

MOST = 2_000  # documents that are attacked: the first ones
NAMING = ("name", "birth", "born", "dob", "spouse", "child", "parent", "phone", "mail", "ssn", "number", "iban", "card")


class MaskedFolder:
    """The masked texts of a release, the original's ids where it is given."""

    def __init__(self, job: AuditJob, manifest: dict[str, Any]):
        if manifest["mechanism"] != "pii.mask":
            raise BadInput(f"holds no masked text (mechanism {manifest['mechanism']})", where=job.folder)
        self._job, self._second = job, load(job.recogniser or NAMES)
        self.texts, self._ids = _texts_of(job.folder, manifest)

    def people_of_records(self, rng: Source) -> MaskedSeen:
        """Documents, and the records of the people they may be about."""
        assert self._job.records is not None
        rows = list(_rows(self._job.records))
        names, facts = zip(*map(record_of, rows), strict=True) if rows else ((), ())
        number = {str(row.get("id")): n for n, row in enumerate(rows)}
        ids = [i for i, _ in self._original()]
        owners = np.array([number.get(str(i), -1) for i in ids], np.int64)
        if (owners < 0).all():
            raise BadInput("names none of the documents", where=self._job.records, field="id")
        return MaskedSeen(self.texts, names, facts, recognised=self._recognised(), truth=Owners(owners))

    def people_of_original(self, rng: Source) -> MaskedSeen:
        """Documents, and what two recognisers find in the originals, one candidate each."""
        originals = [text for _, text in self._original()]
        names = _values(load([PATTERNS, self._second]), originals)
        return MaskedSeen(self.texts, names, recognised=self._recognised(), truth=Owners(np.arange(len(names))))

    def _recognised(self) -> list[list[str]]:
        return _values(self._second, self.texts)

    def other_release(self, rng: Source) -> MaskedSeen:
        """Two masked releases."""
        assert self._job.other is not None
        others, ids = _texts_of(self._job.other, read_manifest(self._job.other))
        if self._ids and ids:
            number = {name: n for n, name in enumerate(ids)}
            owners = np.array([number.get(name, -1) for name in self._ids], np.int64)
        elif len(others) == len(self.texts):
            owners = np.arange(len(others))
        else:
            raise BadInput("has neither ids nor as many documents", where=self._job.other)
        return MaskedSeen(self.texts, others=others, truth=Owners(owners))

    def _original(self) -> list[tuple[Any, str]]:
        job = self._job
        assert job.truth is not None
        kind = readers.format_of(job.truth)[0]
        fields = ("id",) if kind == "jsonl" else ()
        reader = readers.open_reader(job.truth, text_field=job.text_field, fields=fields, columns=(), header=job.header)
        rows = []
        for number, record in enumerate(reader):
            if number == MOST:
                break
            rows.append((record.fields.get("id", number), record.text))
        if len(rows) != len(self.texts):
            raise BadInput("has another number of documents than the release", where=job.truth)
        return rows


def _values(recogniser: Recognisers, texts: Sequence[str]) -> list[list[str]]:
    return [[s.of(text) for s in spans] for text, spans in zip(texts, recogniser.find(texts), strict=True)]


def record_of(row: dict[str, Any]) -> tuple[list[str], list[str]]:
    """A record's values: those of fields that name a person, and the others.

    >>> record_of({"id": 1, "name": "Anna Meyer", "age": 47, "towns": ["Bern"]})
    (['Anna Meyer'], ['47', 'Bern'])
    """
    names, facts = list[str](), list[str]()
    for field, value in row.items():
        if field == "id":
            continue
        listed = [str(v) for v in (value if isinstance(value, list) else [value]) if v is not None]
        (names if any(part in field.lower() for part in NAMING) else facts).extend(listed)
    return names, facts


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    check_readable(path)
    for row in objects(Lines(path)):
        if "id" not in row:
            raise BadInput("is missing", where=path, field="id")
        yield row


def _texts_of(folder: Path, manifest: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The texts of a release, and their ids where it has them."""
    source = folder / manifest["data"]
    kind = readers.format_of(source)[0]
    has_ids = "column 'id'" in manifest.get("passes", ())
    text_field = (manifest.get("facts", {}).get("data") or {}).get("text_field")
    reader = readers.open_reader(
        source,
        text_field=text_field if readers.FORMATS[kind].has_fields else None,
        fields=("id",) if has_ids else (),
    )
    texts, ids = list[str](), list[str]()
    for number, record in enumerate(reader):
        if number == MOST:
            break
        texts.append(record.text)
        if has_ids:
            ids.append(str(record.fields.get("id")))
    return texts, ids


ROOM = AuditRoom(
    MaskedFolder,
    (
        Filling(
            MaskedSeen,
            MaskedFolder.people_of_records,
            gives=("names", "facts", "recognised"),
            asks=("records", "truth"),
        ),
        Filling(MaskedSeen, MaskedFolder.people_of_original, gives=("names", "recognised"), asks=("truth",)),
        Filling(MaskedSeen, MaskedFolder.other_release, ("others",), ("other",)),
    ),
)
