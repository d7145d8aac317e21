"""Binary word codes, packed for popcounts.

Bit j of a word's code is bit (j mod 64) of the 64-bit number in block (j // 64), the lowest bit first; bits that pad
the last block are 0 everywhere and never count. Hamming distance = popcount of the xor of all blocks.

The public code for words outside the vocabulary is, unless a file gives one, the bitwise majority of all codes (a tie
gives 0): the point of least total Hamming distance to the vocabulary, what the mean is to squared Euclidean distance.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textveil.core.errors import BadInput, BadParameter
from textveil.text.vocabulary import Vocabulary

MOST_BITS = 4096
_ONES = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)


def pack(bits: np.ndarray) -> np.ndarray:
    """Rows of 0/1 to rows of 64-bit blocks, lowest bit first.

    >>> pack(np.array([[1, 0, 1]])).tolist()
    [[5]]
    """
    bits = np.asarray(bits)
    rows, width = bits.shape
    padded = np.zeros((rows, blocks_for(width) * 64), dtype=np.uint8)
    padded[:, :width] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(words64: np.ndarray, bits: int) -> np.ndarray:
    """The inverse of `pack`: uint8 rows of 0/1.

    >>> unpack(np.array([[5]], dtype=np.uint64), 3).tolist()
    [[1, 0, 1]]
    """
    raw = np.ascontiguousarray(words64, dtype="<u8").view(np.uint8)
    return np.unpackbits(raw, axis=1, count=bits, bitorder="little")


def hamming(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamming distance along the last axis of packed codes; the other axes broadcast.

    >>> int(hamming(np.array([5], dtype=np.uint64), np.array([6], dtype=np.uint64)))
    2
    """
    return popcount(np.bitwise_xor(a, b)).sum(axis=-1, dtype=np.int64)


def popcount(blocks: np.ndarray) -> np.ndarray:
    """Ones in each 64-bit block.

    >>> popcount(np.array([0, 5, 2**64 - 1], dtype=np.uint64)).tolist()
    [0, 2, 64]
    """
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(blocks)
    blocks = np.ascontiguousarray(blocks)  # numpy before 2.0: bytes through a table
    return _ONES[blocks.view(np.uint8)].reshape(*blocks.shape, 8).sum(axis=-1, dtype=np.uint8)


def blocks_for(bits: int) -> int:
    """How many 64-bit blocks hold that many bits."""
    return -(-bits // 64)


@dataclass(frozen=True, eq=False)
class Codes:
    """One code a word. `words64` is uint64 of shape (words, blocks), read-only; `fallback` has shape (blocks,)."""

    words: Vocabulary
    words64: np.ndarray
    bits: int
    fallback: np.ndarray

    @classmethod
    def from_bits(cls, words: Vocabulary | list[str], bits: np.ndarray, fallback: np.ndarray | None = None) -> Codes:
        """Codes from a 0/1 matrix of shape (words, bits).

        >>> codes = Codes.from_bits(["x", "y", "z"], np.array([[0, 1], [1, 1], [1, 0]]))
        >>> codes.bits, codes.words64.ravel().tolist(), codes.fallback.tolist()
        (2, [2, 3, 1], [3])
        """
        bits = np.asarray(bits)
        if bits.ndim != 2 or not np.isin(bits, (0, 1)).all():
            raise BadInput("codes must be a table of zeros and ones, one row a word")
        packed_fallback = None if fallback is None else pack(np.asarray(fallback).reshape(1, -1))[0]
        return cls.from_packed(words, pack(bits), bits.shape[1], packed_fallback)

    @classmethod
    def from_packed(
        cls,
        words: Vocabulary | list[str],
        words64: np.ndarray,
        bits: int,
        fallback: np.ndarray | None = None,
        *,
        where: object = None,
    ) -> Codes:
        """Codes from packed blocks, checked."""
        words = words if isinstance(words, Vocabulary) else Vocabulary(words, where=where)
        if not isinstance(bits, int) or not 1 <= bits <= MOST_BITS:
            raise BadParameter("bits", bits, f"a whole number from 1 to {MOST_BITS}")
        words64 = np.asarray(words64)
        if words64.dtype.kind != "u" or words64.shape != (len(words), blocks_for(bits)):
            raise BadInput(
                f"packed codes of {len(words)} words and {bits} bits must be uint64 of shape "
                f"({len(words)}, {blocks_for(bits)}), not {words64.dtype} of shape {words64.shape}",
                where=where,
            )
        words64 = np.ascontiguousarray(words64, dtype=np.uint64).view()
        if fallback is None:
            fallback = majority(words64, bits)
        fallback = np.array(fallback, dtype=np.uint64).reshape(-1)
        if fallback.shape != (blocks_for(bits),):
            raise BadInput(f"the code for unknown words must have {bits} bits too", where=where)
        if bits % 64:
            padding = ~np.uint64((1 << (bits % 64)) - 1)
            if (words64[:, -1] & padding).any() or fallback[-1] & padding:
                raise BadInput(f"a code has bits set beyond its {bits} bits", where=where)
        words64.flags.writeable = False
        fallback.flags.writeable = False
        return cls(words, words64, bits, fallback)

    @cached_property
    def fingerprint(self) -> str:
        """Names this Hamming space: words, bits, every code and the code for unknown words."""
        digest = hashlib.blake2b(f"textveil codes {self.bits}\n".encode(), digest_size=16)
        digest.update(self.words.encode())
        for part in (self.words64.astype("<u8"), self.fallback.astype("<u8")):
            digest.update(part.data)
        return digest.hexdigest()

    def index(self, word: str) -> int | None:
        """The word's row, or None."""
        return self.words.index(word)

    def unpacked(self) -> np.ndarray:
        """All codes as uint8 rows of 0/1."""
        return unpack(self.words64, self.bits)

    def collisions(self) -> int:
        """How many words share their code with another word.

        >>> Codes.from_bits(["x", "y", "z"], np.array([[0, 1], [0, 1], [1, 0]])).collisions()
        2
        """
        _, counts = np.unique(self.words64, axis=0, return_counts=True)
        return int(counts[counts > 1].sum())

    def head(self, count: int) -> Codes:
        """The codes of the first `count` words; the code for unknown words stays."""
        return Codes.from_packed(list(self.words)[:count], self.words64[:count], self.bits, self.fallback)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the compact `.tvc` file: words compressed, codes as they are."""
        from textveil.text.store import write_codes

        write_codes(path, self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Codes:
        """Read a `.tvc` file."""
        from textveil.text.store import read_codes

        return read_codes(path)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Codes({len(self)} words, {self.bits} bits, {self.fingerprint})"


def majority(words64: np.ndarray, bits: int) -> np.ndarray:
    """The bitwise majority of packed codes; a tie gives 0."""
    ones = np.zeros(bits, dtype=np.int64)
    for start in range(0, len(words64), 8192):  # a slice at a time: unpacked codes are eight times their size
        ones += unpack(words64[start : start + 8192], bits).sum(axis=0, dtype=np.int64)
    return pack((2 * ones > len(words64)).astype(np.uint8).reshape(1, -1))[0]
