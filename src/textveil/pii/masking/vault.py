"""The map of a masking, encrypted: who has which pseudonym, and what stood in the place of every mask.

A file for its owner alone (mode 600), under AES-256-GCM with a key derived from the key file. It is a row of chunks, each
compressed and sealed by itself with its number as associated data, so chunks cannot be swapped, dropped or read without
the key; the last one says how many there are. It is written and read chunk by chunk: a masking of any size needs the
memory of its people only.

    {"kind": "log", "release": id, "rows": [[digest of the masked text, [[start, end, original], ...]], ...]}
    {"kind": "people", "people": [...]}
    {"kind": "end", "chunks": n}
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.pii.masking.keys import MaskKey
from textveil.pii.masking.people import People
from textveil.pii.masking.texts import MaskedText
from textveil.text.atomic import AtomicFile

MAGIC = b"textveil pii map 1\n"
_NONCE, _ROWS = 12, 500


class MapWriter:
    """Writes a map; a context manager. Nothing has its name before `place`."""

    def __init__(self, path: Path, key: MaskKey, release: str):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._file, self._cipher, self._release = AtomicFile(path, private=True), AESGCM(key.derived("map")), release
        self._count, self._rows = 0, list[Any]()
        self._file.write(MAGIC)

    def add(self, masked: MaskedText) -> None:
        """The next record of the release."""
        self._rows.append([digest_of(masked.text), [list(r) for r in masked.replaced]])
        if len(self._rows) >= _ROWS:
            self._flush()

    def copy(self, chunk: dict[str, Any]) -> None:
        """A chunk of an older map."""
        self._write(chunk)

    def finish(self, people: People | None) -> None:
        """Write the rest and put the file in its place."""
        self._flush()
        listed = [] if people is None else [person.to_json() for person in people if person.family]
        for start in range(0, len(listed), 10_000):
            self._write({"kind": "people", "people": listed[start : start + 10_000]})
        self._write({"kind": "end", "chunks": self._count + 1})
        self._file.finish()
        self._file.place()

    def discard(self) -> None:
        self._file.discard()

    def _flush(self) -> None:
        if self._rows:
            self._write({"kind": "log", "release": self._release, "rows": self._rows})
            self._rows = []

    def _write(self, chunk: dict[str, Any]) -> None:
        plain = zlib.compress(json.dumps(chunk).encode(), 6)
        nonce = os.urandom(_NONCE)
        sealed = nonce + self._cipher.encrypt(nonce, plain, str(self._count).encode())
        self._file.write(len(sealed).to_bytes(4, "big") + sealed)
        self._count += 1


def read_map(path: Path, key: MaskKey) -> Iterator[dict[str, Any]]:
    """The chunks of a map, but for the last; a wrong key is told in one sentence."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher, number = AESGCM(key.derived("map")), 0
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise BadInput("is no map of a masking", where=path)
            while head := file.read(4):
                sealed = file.read(int.from_bytes(head, "big"))
                plain = cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], str(number).encode())
                chunk = json.loads(zlib.decompress(plain))
                number += 1
                if chunk["kind"] == "end":
                    if chunk["chunks"] != number or file.read(1):
                        break
                    return
                yield chunk
    except FileNotFoundError:
        raise BadInput("does not exist", where=path) from None
    except InvalidTag:
        what = "was made with another key" if number == 0 else "was altered or cut short"
        raise BadInput(what, where=path, possible="the key file that it was made with") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or 'system error'})", where=path) from None
    except (ValueError, KeyError, TypeError, zlib.error):
        raise BadInput("was altered or cut short", where=path) from None
    raise BadInput("was altered or cut short", where=path)


def people_of(chunks: Iterator[dict[str, Any]], key: MaskKey) -> People:
    """The people that a map knows."""
    listed = (People.person_from_json(kept) for c in chunks if c["kind"] == "people" for kept in c["people"])
    return People(key, listed)


def digest_of(text: str) -> str:
    """A short digest of a masked text, to notice that a release was changed before it is unmasked."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


__all__ = ["MapWriter", "digest_of", "people_of", "read_map"]
