"""What the dealer computes: corrections that turn the parties' own random numbers into correlated ones.

Each party draws arrays from its own seed (AES-128 in counter mode: block i of an array that begins at counter c is the
encryption of c + i, little-endian) and the dealer, who knows both seeds, draws them again. For shares a = a0 + a1, b, c of
the ring of 64-bit numbers (32 in parts of the truncation) it returns one correction, which the first party adds to its
share of c:

    Mul      a b - c              Square   a^2 - b          Dot      A B - C (matrices)
    MulPriv  a0 a1 - c            Trunc    (a >> bits) - b  And      (a & b) ^ c (shares join by xor, 128-bit blocks)
    RandBit  random bits - a      Eqz      a ^ b (a joins by +, b by xor)
    TruncPr  ((a << 1) >> (bits + 1)) - b, and (a >> 63) - c

Claim. What the first party learns from a correction is nothing, if the second party's share of its last array (of the last
two for TruncPr) is uniform and used nowhere else: the correction is then uniform too, whatever a and b are. That the shares
are used nowhere else is what `dealer_book` sees to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

BLOCK = 16
WIDTHS = {4: np.dtype("<u4"), 8: np.dtype("<u8")}  # bytes of a number, and its type
Ring = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Operation:
    """One kind of correction: how many of its arrays are operands, and how many (the last ones) are masks."""

    operands: int
    masks: int
    run: Callable[[Sequence[Sequence[bytes]], Request], list[bytes]]

    @property
    def arrays(self) -> int:
        return self.operands + self.masks


@dataclass(frozen=True)
class Request:
    """The public parts of a call that an operation needs."""

    width: int = 8  # bytes of a number
    bits: int = 0
    m: int = 0
    n: int = 0
    k: int = 0
    transpose: tuple[bool, ...] = (False, False, False)


def blocks_of(size: int) -> int:
    """Counter steps that an array of so many bytes takes."""
    return -(-size // BLOCK)


def stream(seed: bytes, counter: int, size: int) -> bytes:
    """The pseudo-random bytes that a party draws at a counter.

    >>> stream(bytes(16), 1, 16) == stream(bytes(16), 0, 32)[16:]
    True
    """
    counters = np.zeros((blocks_of(size), 2), dtype="<u8")
    counters[:, 0] = np.arange(counter, counter + len(counters), dtype=np.uint64)
    return Cipher(algorithms.AES(seed), modes.ECB()).encryptor().update(counters.tobytes())[:size]


def _sum(shares: Sequence[bytes], width: int) -> Ring:
    return np.frombuffer(shares[0], WIDTHS[width]) + np.frombuffer(shares[1], WIDTHS[width])


def _sums(arrays: Sequence[Sequence[bytes]], request: Request) -> list[Ring]:
    return [_sum(shares, request.width) for shares in arrays]


def _xor(shares: Sequence[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(shares[0], dtype=np.uint8) ^ np.frombuffer(shares[1], dtype=np.uint8)


def _mul(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    a, b, c = _sums(arrays, request)
    return [(a * b - c).tobytes()]


def _mul_private(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    first, second = (np.frombuffer(share, WIDTHS[request.width]) for share in arrays[0])
    return [(first * second - _sum(arrays[1], request.width)).tobytes()]


def _square(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    a, b = _sums(arrays, request)
    return [(a * a - b).tobytes()]


def _dot(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    a, b, c = _sums(arrays, request)
    left = a.reshape(request.k, request.m).T if request.transpose[0] else a.reshape(request.m, request.k)
    right = b.reshape(request.n, request.k).T if request.transpose[1] else b.reshape(request.k, request.n)
    return [(ring_matmul(left, right).reshape(-1) - c).tobytes()]


def _and(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    a, b, c = map(_xor, arrays)
    return [((a & b) ^ c).tobytes()]


def _trunc(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    a, b = _sums(arrays, request)
    signed = np.dtype(f"<i{request.width}")
    return [((a.view(signed) >> request.bits).view(a.dtype) - b).tobytes()]


def _trunc_probabilistic(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    r, middle, top = _sums(arrays, request)
    kind = r.dtype.type
    return [
        (((r << kind(1)) >> kind(request.bits + 1)) - middle).tobytes(),
        ((r >> kind(8 * request.width - 1)) - top).tobytes(),
    ]


def _random_bits(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    share = _sum(arrays[0], request.width)
    bits = np.unpackbits(np.frombuffer(os.urandom(-(-len(share) // 8)), dtype=np.uint8), count=len(share))
    return [(bits.astype(share.dtype) - share).tobytes()]


def _equal_zero(arrays: Sequence[Sequence[bytes]], request: Request) -> list[bytes]:
    joined = _xor(arrays[1]).view(WIDTHS[request.width])
    return [(_sum(arrays[0], request.width) ^ joined).tobytes()]


OPERATIONS = {
    "AdjustMul": Operation(2, 1, _mul),
    "AdjustMulPriv": Operation(1, 1, _mul_private),
    "AdjustSquare": Operation(1, 1, _square),
    "AdjustDot": Operation(2, 1, _dot),
    "AdjustAnd": Operation(2, 1, _and),
    "AdjustTrunc": Operation(1, 1, _trunc),
    "AdjustTruncPr": Operation(1, 2, _trunc_probabilistic),
    "AdjustRandBit": Operation(0, 1, _random_bits),
    "AdjustEqz": Operation(1, 1, _equal_zero),
}


def ring_matmul(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The product modulo 2^64, by products of doubles that are exact.

    Numbers are cut into limbs of 16 bits; a product of two limbs is below 2^32, and 2^21 of them are summed without
    rounding. Of the 16 pairs of limbs only the 10 that matter modulo 2^64 are multiplied.

    >>> a = np.array([[2**63 + 5, 7]], dtype=np.uint64)
    >>> int(ring_matmul(a, a.T)[0, 0]) == ((2**63 + 5) ** 2 + 49) % 2**64
    True
    """
    if left.shape[1] > 1 << 20:
        return np.asarray(left @ right, dtype=np.uint64)
    sixteen = np.uint64(0xFFFF)
    lefts = [((left >> np.uint64(16 * i)) & sixteen).astype(np.float64) for i in range(4)]
    rights = [((right >> np.uint64(16 * i)) & sixteen).astype(np.float64) for i in range(4)]
    product = np.zeros((left.shape[0], right.shape[1]), dtype=np.uint64)
    for place in range(4):
        part = lefts[0] @ rights[place]
        for i in range(1, place + 1):
            part += lefts[i] @ rights[place - i]
        product += part.astype(np.uint64) << np.uint64(16 * place)
    return product


__all__ = ["BLOCK", "OPERATIONS", "WIDTHS", "Operation", "Request", "blocks_of", "ring_matmul", "stream"]
