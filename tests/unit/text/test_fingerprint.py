"""The fingerprint depends on the documents, their borders, their order and the key, and on nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from textveil.core.errors import BadParameter
from textveil.text.fingerprint import Fingerprint
from textveil.text.readers import open_reader


def of(documents: list[str], key: bytes = b"k") -> str:
    fingerprint = Fingerprint(key)
    for document in documents:
        fingerprint.update(document)
    return fingerprint.hexdigest()


def test_it_is_keyed_blake2b_over_documents_with_their_length() -> None:
    by_hand = hashlib.blake2b(b"\x03" + bytes(7) + "né".encode() + bytes(8), key=b"k", digest_size=32).hexdigest()
    assert of(["né", ""]) == by_hand


@pytest.mark.parametrize("other", [["a", "bc"], ["c", "ab"], ["abc"], ["ab", "c", ""], ["ab"], []])
def test_borders_order_and_number_matter(other: list[str]) -> None:
    assert of(["ab", "c"]) != of(other)


def test_the_key_matters() -> None:
    assert of(["ab"]) != of(["ab"], key=b"other")


def test_a_text_and_its_bytes_are_the_same_document() -> None:
    fingerprint = Fingerprint(b"k")
    fingerprint.update_bytes("né".encode())
    assert fingerprint.hexdigest() == of(["né"])


def test_any_text_has_one() -> None:
    assert of(["\ud800\x00"]) != of(["\ud801\x00"])


def test_the_container_does_not_matter(tmp_path: Path) -> None:
    files = {
        "a.txt": "tea, hot\nmilk\n",
        "a.jsonl": '{"text": "tea, hot"}\n{"text":"milk"}',
        "a.csv": 'text\n"tea, hot"\nmilk\n',
    }
    found = set()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        found.add(of([record.text for record in open_reader(tmp_path / name)]))
    assert len(found) == 1


@pytest.mark.parametrize("key", [b"", bytes(65)])
def test_a_bad_key_is_refused_and_not_shown(key: bytes) -> None:
    with pytest.raises(BadParameter, match=r"key must be 1 to 64 bytes, not '\d+ bytes'"):
        Fingerprint(key)
