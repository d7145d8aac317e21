"""Packed codes against plain arithmetic on bits, and the .tvc file."""

import numpy as np
import pytest

from textveil.core.errors import BadInput, BadParameter
from textveil.text import codes as codes_module
from textveil.text.codes import Codes, hamming, pack, popcount, unpack


def random_codes(count: int, bits: int) -> tuple[np.ndarray, Codes]:
    table = np.random.default_rng().integers(0, 2, (count, bits), dtype=np.uint8)
    return table, Codes.from_bits([f"w{i}" for i in range(count)], table)


@pytest.mark.parametrize("bits", [1, 7, 16, 63, 64, 65, 128, 256, 512])
def test_packing_round_trip_and_distance(bits):
    table, codes = random_codes(40, bits)
    assert codes.words64.shape == (40, -(-bits // 64))
    np.testing.assert_array_equal(unpack(pack(table), bits), table)
    slow = (table[:, None] != table[None]).sum(axis=2)
    np.testing.assert_array_equal(hamming(codes.words64[:, None], codes.words64[None]), slow)


def test_bit_order_is_lowest_first():
    bits = np.zeros((1, 130), dtype=np.uint8)
    bits[0, [0, 64, 129]] = 1
    assert pack(bits).tolist() == [[1, 1, 2]]


def test_popcount_without_numpy_2(monkeypatch):
    blocks = np.random.default_rng().integers(0, 2**64, (5, 3), dtype=np.uint64)
    expected = [[value.bit_count() for value in row] for row in blocks.tolist()]
    assert popcount(blocks).tolist() == expected
    monkeypatch.delattr(codes_module.np, "bitwise_count", raising=False)
    assert popcount(blocks).tolist() == expected


def test_fallback_minimises_total_distance():
    _, codes = random_codes(31, 8)
    everything = np.arange(256, dtype=np.uint64)[:, None]
    totals = hamming(everything[:, None], codes.words64[None]).sum(axis=1)
    assert totals[int(codes.fallback[0])] == totals.min()


def test_fingerprint_names_words_codes_and_fallback():
    table, codes = random_codes(6, 16)
    words = list(codes.words)
    flipped = table.copy()
    flipped[3, 5] ^= 1
    other_fallback = unpack(codes.fallback[None], 16)[0] ^ 1
    variants = [
        codes,
        Codes.from_bits(words[::-1], table),
        Codes.from_bits(words, flipped),
        Codes.from_bits(words, table, other_fallback),
    ]
    assert len({c.fingerprint for c in variants}) == 4
    assert Codes.from_bits(words, table).fingerprint == codes.fingerprint


def test_arrays_cannot_be_written():
    _, codes = random_codes(3, 64)
    for array in (codes.words64, codes.fallback):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_collisions_count_words():
    codes = Codes.from_bits(list("abcde"), np.array([[0, 0], [0, 0], [0, 0], [1, 1], [0, 1]]))
    assert codes.collisions() == 3


@pytest.mark.parametrize(
    ("words", "blocks", "bits", "message"),
    [
        (["a"], np.zeros((2, 1), np.uint64), 64, "shape"),
        (["a"], np.zeros((1, 1), np.uint64), 65, "shape"),
        (["a"], np.zeros((1, 1), np.int64), 64, "uint64"),
        (["a"], np.full((1, 1), 8, np.uint64), 3, "beyond its 3 bits"),
        (["a", "a"], np.zeros((2, 1), np.uint64), 64, "occurs twice"),
        ([], np.zeros((0, 1), np.uint64), 64, "empty"),
    ],
)
def test_bad_packed_codes(words, blocks, bits, message):
    with pytest.raises(BadInput, match=message):
        Codes.from_packed(words, blocks, bits)


def test_bad_bits():
    with pytest.raises(BadParameter, match="bits"):
        Codes.from_packed(["a"], np.zeros((1, 1), np.uint64), 0)
    with pytest.raises(BadInput, match="zeros and ones"):
        Codes.from_bits(["a"], np.array([[2]]))


@pytest.mark.parametrize("bits", [12, 256])
def test_file_round_trip(tmp_path, bits):
    _, codes = random_codes(50, bits)
    codes.save(tmp_path / "c.tvc")
    again = Codes.load(tmp_path / "c.tvc")
    assert again.fingerprint == codes.fingerprint
    assert again.words == codes.words
    assert [p.name for p in tmp_path.iterdir()] == ["c.tvc"]


def test_damaged_bytes_are_refused(tmp_path):
    _, codes = random_codes(4, 64)
    good = tmp_path / "c.tvc"
    codes.save(good)
    data = good.read_bytes()
    bad = tmp_path / "bad.tvc"
    for position in range(np.random.default_rng().integers(3), len(data), 3):
        bad.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        try:
            assert Codes.load(bad).fingerprint == codes.fingerprint  # only the padding between blocks may go unnoticed
            assert data[position] == 0
        except BadInput:
            pass
    for length in range(0, len(data), 7):
        bad.write_bytes(data[:length])
        with pytest.raises(BadInput):
            Codes.load(bad)


def test_device_file_is_small(tmp_path):
    """50,000 codes of 256 bits take 1.6 MB; the profile allows 3 MB with the vocabulary."""
    blocks = np.random.default_rng().integers(0, 2**64, (50_000, 4), dtype=np.uint64)
    codes = Codes.from_packed([f"{i * i:x}ing" for i in range(50_000)], blocks, 256)
    codes.save(tmp_path / "c.tvc")
    assert (tmp_path / "c.tvc").stat().st_size < 3_000_000


def test_wrong_file(tmp_path):
    _, codes = random_codes(4, 64)
    with pytest.raises(BadInput, match="extension"):
        codes.save(tmp_path / "c.bin")
    with pytest.raises(BadInput, match="cannot be written"):
        codes.save(tmp_path / "nowhere" / "c.tvc")
    with pytest.raises(BadInput, match="cannot be read"):
        Codes.load(tmp_path / "none.tvc")
