"""Recognise a data set again without keeping any of it.

A fingerprint is a keyed BLAKE2b over every part of the data, each part behind its kind and its length, so that
["ab", "c"] and ["a", "bc"] differ. The key is random and stays in the ledger file: without it nobody can test guesses
("was this letter in the data?") against a fingerprint that was exported. With the ledger file at hand one can, which is
why the file is readable by its owner only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

KEY_BYTES = 32


class Fingerprint:
    """Fed part by part, so that a file of any size is read once and never held.

    >>> one, other = Fingerprint(bytes(32)), Fingerprint(bytes(32))
    >>> one.update("ab").update("c").hexdigest() == other.update("a").update("bc").hexdigest()
    False
    """

    def __init__(self, key: bytes):
        self._hash = hashlib.blake2b(key=key, digest_size=32)

    def update(self, text: str) -> Fingerprint:
        """One text."""
        return self._part(b"t", text.encode("utf-8", "surrogatepass"))

    def update_bytes(self, raw: bytes | memoryview) -> Fingerprint:
        """One run of bytes that is not text."""
        return self._part(b"b", raw)

    def update_all(self, texts: Iterable[str]) -> Fingerprint:
        for text in texts:
            self.update(text)
        return self

    def update_value(self, data: Any) -> Fingerprint | None:
        """Texts, an array, a sparse matrix or a JSON value; None for what has no fixed form of bytes."""
        if isinstance(data, str):
            return self.update(data)
        if hasattr(data, "tocsr"):
            return _sparse(self, data)
        if hasattr(data, "to_numpy"):
            data = data.to_numpy()
        if isinstance(data, np.ndarray):
            if data.dtype.kind not in "OU":
                return _array(self, data)
            data = data.tolist()
        if isinstance(data, (list, tuple)) and all(isinstance(d, str) for d in data):
            return self.update_all(data)
        return _json(self, data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def _part(self, kind: bytes, raw: bytes | memoryview) -> Fingerprint:
        size = raw.nbytes if isinstance(raw, memoryview) else len(raw)
        self._hash.update(kind + size.to_bytes(8, "big"))
        self._hash.update(raw)
        return self


def fingerprint_of(data: Any, key: bytes) -> str | None:
    """Fingerprint of texts, arrays, sparse matrices and JSON values; None for what has no fixed form of bytes.

    A list of texts has the same fingerprint as a file read text by text. An iterator is not consumed: it gives None.

    >>> fingerprint_of(["one", "two"], bytes(32)) == fingerprint_of(np.array(["one", "two"]), bytes(32))
    True
    >>> fingerprint_of(iter(["one"]), bytes(32)) is None
    True
    """
    mark = Fingerprint(key).update_value(data)
    return None if mark is None else mark.hexdigest()


def _array(mark: Fingerprint, array: np.ndarray) -> Fingerprint:
    mark.update_bytes(f"{array.dtype.str} {array.shape}".encode())
    return mark.update_bytes(np.ascontiguousarray(array).tobytes())


def _sparse(mark: Fingerprint, matrix: Any) -> Fingerprint:
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    mark.update_bytes(f"sparse {rows.shape}".encode())
    for part in (rows.indptr.astype("<i8"), rows.indices.astype("<i8"), rows.data):
        _array(mark, part)
    return mark


def _json(mark: Fingerprint, data: Any) -> Fingerprint | None:
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return None
    return mark.update_bytes(text.encode())
