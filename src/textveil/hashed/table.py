"""The table of weights: one row per slot, one column per label, and the folder it is kept in.

    table.json      labels, transitions, sizes, its kind (open, sealed, sound), public facts, and a checksum of every file
    weights.bin     R x d little-endian float32 (or float16), memory-mapped when it is opened
    present.bin     PRIVATE, open tables only: one bit per weight, did training set it? The others hold all weights
    documents.bin   PRIVATE, open tables only: how many training documents hold each slot in plain words (at most 65,535)

A weight that training never set is 0 and absent: the label was never seen with the slot. That pattern gives words away,
which is what sealing is for.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core.errors import BadInput, BadParameter
from textveil.hashed.kinds import TableKind

HEADER, WEIGHTS, PRESENT, DOCUMENTS = "table.json", "weights.bin", "present.bin", "documents.bin"
FORMAT = "textveil hashed table 2"
OLD_FORMAT = "textveil hashed table 1"  # had a boolean, "sealed", which sound tables carried too; it is still read
SOUND = "sound"  # the fact of a sound table that holds its SoundPlan
_TYPES = {"float32": "<f4", "float16": "<f2"}
_CORRUPT = "a fresh copy of the model, or train it again"


@dataclass
class WeightTable:
    """Weights of all slots. Arrays that were opened from a folder are read-only.

    >>> table = WeightTable(np.zeros((16, 2)), np.zeros((16, 2), bool), ("O", "LAW"), np.zeros((2, 2)))
    >>> table.bits, table.kind.value, table.occupied
    (4, 'open', 0)
    """

    weights: np.ndarray  # float32 (R, d); 0 where absent
    present: np.ndarray  # bool (R, d)
    labels: tuple[str, ...]
    transitions: np.ndarray  # float32 (d, d): from the row's label to the column's
    documents: np.ndarray | None = None  # uint16 (R,)
    kind: TableKind = TableKind.OPEN
    facts: dict[str, Any] = field(default_factory=dict)  # public facts of sealing or of the sound variant

    def __post_init__(self) -> None:
        self.labels = tuple(self.labels)
        self.weights = _as(self.weights, np.float32)
        self.present = _as(self.present, np.bool_)
        self.transitions = _as(self.transitions, np.float32)
        rows, d = self.weights.shape if self.weights.ndim == 2 else (0, 0)
        if d < 2 or len(self.labels) != d or self.present.shape != (rows, d) or self.transitions.shape != (d, d):
            raise BadParameter("labels", list(self.labels), "two labels or more, one for each column of the weights")
        if rows < 2 or rows & (rows - 1):
            raise BadParameter("rows", rows, "a power of two")

    @property
    def bits(self) -> int:
        return len(self.weights).bit_length() - 1

    @property
    def is_open(self) -> bool:
        """Whether it shows which weights training set."""
        return self.kind is TableKind.OPEN

    @property
    def occupied(self) -> int:
        """How many slots hold a weight of any label."""
        return int(self.present.any(axis=1).sum())

    def require_weights(self, where: object = None) -> WeightTable:
        """Refuse a table in which training set nothing."""
        if self.is_open and not self.present.any():
            raise BadInput("holds no weights", where=where or "the model", possible="a model that has been trained")
        return self

    def without_documents(self) -> WeightTable:
        return replace(self, documents=None)

    def save(self, folder: str | os.PathLike[str], *, dtype: str = "float32") -> Path:
        """Write the table into a folder (made if missing); float16 halves the file and rounds the weights."""
        if dtype not in _TYPES:
            raise BadParameter("dtype", dtype, " or ".join(_TYPES))
        self.require_weights()
        target = Path(folder)
        files = {WEIGHTS: np.ascontiguousarray(self.weights).astype(_TYPES[dtype], copy=False)}
        if self.is_open:
            files[PRESENT] = np.packbits(self.present)
            if self.documents is not None:
                files[DOCUMENTS] = self.documents.astype("<u2", copy=False)
        try:
            target.mkdir(parents=True, exist_ok=True)
            for name in (PRESENT, DOCUMENTS):
                (target / name).unlink(missing_ok=True)  # of an open table that stood here before
            for name, array in files.items():
                array.tofile(target / name)
            header = self._header(dtype, {name: _digest(array) for name, array in files.items()})
            (target / HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=target) from None
        return target

    def _header(self, dtype: str, digests: dict[str, str]) -> dict[str, Any]:
        header = {
            "format": FORMAT,
            "rows": len(self.weights),
            "labels": list(self.labels),
            "transitions": self.transitions.tolist(),
            "dtype": dtype,
            "kind": self.kind.value,
            "facts": self.facts,
            "files": digests,
        }
        return {**header, "checksum": _header_digest(header)}

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, verify: bool = True) -> WeightTable:
        """Map a table into memory; the checksum of every byte is tested unless `verify` is off."""
        target = Path(folder)
        header = _read_header(target)
        rows, labels = int(header["rows"]), tuple(header["labels"])
        shape, files = (rows, len(labels)), header["files"]
        kind, number = _kind_of(header), _TYPES.get(header["dtype"])
        if kind is None or number is None or WEIGHTS not in files:
            raise BadInput("has a header that this version does not know", where=target / HEADER)
        weights = _map(target / WEIGHTS, number, shape, files, verify)
        if kind is TableKind.OPEN:
            packed = _map(target / PRESENT, "u1", ((rows * len(labels) + 7) // 8,), files, verify)
            present = np.unpackbits(packed, count=rows * len(labels)).view(np.bool_).reshape(shape)
        else:
            present = np.broadcast_to(np.True_, shape)
        documents = _map(target / DOCUMENTS, "<u2", (rows,), files, verify) if DOCUMENTS in files else None
        table = cls(weights, present, labels, header["transitions"], documents, kind, header["facts"])
        return table.require_weights(target)


def _as(array: Any, kind: Any) -> np.ndarray:
    """The array in this type, without a copy where it has it; a mapped file stays mapped."""
    return np.asarray(array) if getattr(array, "dtype", None) == kind else np.asarray(array).astype(kind)


def _kind_of(header: dict[str, Any]) -> TableKind | None:
    """The kind of a table, also of one in the old format; None where the header contradicts itself."""
    is_sound = SOUND in header["facts"]
    if header["format"] == OLD_FORMAT:
        if not header["sealed"]:
            return TableKind.OPEN
        return TableKind.SOUND if is_sound else TableKind.SEALED
    if header["kind"] not in set(TableKind):
        return None
    kind = TableKind(header["kind"])
    return kind if is_sound == (kind is TableKind.SOUND) else None


def _read_header(folder: Path) -> dict[str, Any]:
    path = folder / HEADER
    if not path.is_file():
        raise BadInput(
            f"is not a model (it has no {HEADER})", where=folder, possible="a folder of `textveil hashed train`"
        )
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
        checksum = header.pop("checksum")
    except (ValueError, OSError, KeyError, AttributeError, TypeError):
        raise BadInput("is damaged: it cannot be read", where=path, possible=_CORRUPT) from None
    if header.get("format") not in (FORMAT, OLD_FORMAT):
        raise BadInput("is of a format that this version does not know", where=path, possible=FORMAT)
    if checksum != _header_digest(header):
        raise BadInput("is damaged: its checksum differs", where=path, possible=_CORRUPT)
    return header


def _map(path: Path, kind: str, shape: tuple[int, ...], files: dict[str, str], verify: bool) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if not path.is_file() or path.stat().st_size != size or path.name not in files:
        raise BadInput(f"is missing or has not the {size} bytes that the header names", where=path, possible=_CORRUPT)
    array = np.memmap(path, kind, "r", shape=shape)
    if verify and _digest(array) != files[path.name]:
        raise BadInput("is damaged: its checksum differs", where=path, possible=_CORRUPT)
    return array


def _digest(array: np.ndarray) -> str:
    return hashlib.blake2b(memoryview(np.ascontiguousarray(array)).cast("B"), digest_size=16).hexdigest()


def _header_digest(header: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16).hexdigest()
