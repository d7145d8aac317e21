"""A table comes back as it was, and whatever was done to its files is noticed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.hashed.kinds import TableKind
from textveil.hashed.table import DOCUMENTS, HEADER, OLD_FORMAT, PRESENT, WEIGHTS, WeightTable, _header_digest


def make(rows=64, labels=("O", "LAW"), kind=TableKind.OPEN):
    rng = np.random.default_rng(1)
    present = rng.random((rows, len(labels))) < 0.5
    weights = np.where(present, rng.normal(size=present.shape), 0).astype(np.float32)
    counts = rng.integers(0, 9, rows).astype(np.uint16)
    steps = rng.normal(size=(len(labels), len(labels)))
    return WeightTable(weights, present, labels, steps, counts, kind, {"how": "test"})


@pytest.mark.parametrize("labels", [("O", "LAW"), ("O", "A", "B")])
def test_round_trip(tmp_path, labels):
    table = make(labels=labels)
    back = WeightTable.open(table.save(tmp_path / "m"))
    for name in ("weights", "present", "transitions", "documents"):
        assert np.array_equal(getattr(back, name), getattr(table, name))
    assert (back.labels, back.kind, back.facts, back.bits) == (labels, TableKind.OPEN, {"how": "test"}, 6)
    assert not back.weights.flags.writeable


def test_half_precision_rounds_to_float16(tmp_path):
    table = make()
    back = WeightTable.open(table.save(tmp_path, dtype="float16"))
    assert back.weights.dtype == np.float32
    assert np.array_equal(back.weights, table.weights.astype(np.float16).astype(np.float32))
    assert (tmp_path / WEIGHTS).stat().st_size == 64 * 2 * 2


def test_a_sealed_table_keeps_neither_pattern_nor_counts(tmp_path):
    make().save(tmp_path)
    sealed = make(kind=TableKind.SEALED)
    back = WeightTable.open(sealed.save(tmp_path))
    assert back.present.all() and back.documents is None and back.kind is TableKind.SEALED
    assert not (tmp_path / PRESENT).exists() and not (tmp_path / DOCUMENTS).exists()


@pytest.mark.parametrize("name", [WEIGHTS, PRESENT, DOCUMENTS, HEADER])
def test_one_flipped_bit_is_noticed(tmp_path, name):
    make().save(tmp_path)
    path = tmp_path / name
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(BadInput, match="damaged"):
        WeightTable.open(tmp_path)


@pytest.mark.parametrize("name", [WEIGHTS, PRESENT, DOCUMENTS])
def test_a_short_or_missing_file_is_noticed(tmp_path, name):
    make().save(tmp_path)
    (tmp_path / name).write_bytes(b"short")
    with pytest.raises(BadInput, match="bytes that the header names"):
        WeightTable.open(tmp_path, verify=False)
    (tmp_path / name).unlink()
    with pytest.raises(BadInput, match="missing"):
        WeightTable.open(tmp_path)


def test_without_verify_a_flipped_weight_goes_through(tmp_path):
    make().save(tmp_path)
    raw = bytearray((tmp_path / WEIGHTS).read_bytes())
    raw[0] ^= 1
    (tmp_path / WEIGHTS).write_bytes(bytes(raw))
    opened = WeightTable.open(tmp_path, verify=False)
    assert (np.asarray(opened.weights) != make().weights).sum() == 1


def test_what_is_no_model(tmp_path):
    with pytest.raises(BadInput, match="is not a model"):
        WeightTable.open(tmp_path)
    (tmp_path / HEADER).write_text("[]")
    with pytest.raises(BadInput, match="cannot be read"):
        WeightTable.open(tmp_path)
    (tmp_path / HEADER).write_text(json.dumps({"format": "other", "checksum": ""}))
    with pytest.raises(BadInput, match="does not know"):
        WeightTable.open(tmp_path)


def test_no_weights_and_bad_shapes(tmp_path):
    empty = WeightTable(np.zeros((16, 2)), np.zeros((16, 2), bool), ("O", "A"), np.zeros((2, 2)))
    with pytest.raises(BadInput, match="no weights"):
        empty.save(tmp_path)
    with pytest.raises(BadInput, match="two labels or more"):
        WeightTable(np.zeros((16, 1)), np.zeros((16, 1), bool), ("O",), np.zeros((1, 1)))
    with pytest.raises(BadInput, match="power of two"):
        WeightTable(np.zeros((15, 2)), np.zeros((15, 2), bool), ("O", "A"), np.zeros((2, 2)))
    with pytest.raises(BadInput, match="float32 or float16"):
        make().save(tmp_path, dtype="int8")


@pytest.mark.parametrize("kind", list(TableKind))
def test_the_kind_is_kept_in_the_folder(tmp_path, kind):
    table = make(kind=kind)
    table.facts = {"sound": {}} if kind is TableKind.SOUND else {}
    back = WeightTable.open(table.save(tmp_path / "m"))
    assert back.kind is kind and (tmp_path / "m" / PRESENT).exists() == (kind is TableKind.OPEN)


@pytest.mark.parametrize("kind", list(TableKind))
def test_folders_of_the_first_format_are_read(tmp_path, kind):
    table = make(kind=kind)
    table.facts = {"sound": {}} if kind is TableKind.SOUND else {"how": "test"}
    table.save(tmp_path)
    rewrite(tmp_path, lambda header: {**header, "format": OLD_FORMAT, "sealed": header.pop("kind") != "open"})
    back = WeightTable.open(tmp_path)
    assert back.kind is kind and np.array_equal(back.weights, table.weights)


@pytest.mark.parametrize("change", [{"kind": "closed"}, {"kind": "sound"}, {"facts": {"sound": {}}}], ids=str)
def test_a_kind_that_is_unknown_or_contradicts_the_facts_is_refused(tmp_path, change):
    make(kind=TableKind.SEALED).save(tmp_path)
    rewrite(tmp_path, lambda header: {**header, **change})
    with pytest.raises(BadInput, match="does not know"):
        WeightTable.open(tmp_path)


def rewrite(folder, change):
    header = json.loads((folder / HEADER).read_text())
    del header["checksum"]
    header = change(header)
    (folder / HEADER).write_text(json.dumps({**header, "checksum": _header_digest(header)}))
