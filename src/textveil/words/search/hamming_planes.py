"""Hamming distances as sums of bit planes, compiled. Imports numba, so it is itself imported late.

Claim. For a tile of 64 * LANES words and one query, `screen` marks exactly the words at distance <= bound.

Derivation. A plane holds one bit of many words, so one logic instruction serves 256 (512) words. The distance is the sum over
bits of w_b xor q_b. A full adder turns three bits into parity + 2 * majority. Chain the adders along the code: adder c takes
the parity left by its predecessor and bits 2c+1 and 2c+2. The parity of w xor q is the parity of w xor that of q, hence the
three inputs of an adder are known planes of the vocabulary, complemented by three bits of the query: its majority is one of
eight planes that can be tabulated per tile (the idea of the Four Russians). So

    distance = 2 * sum_c table[c][three query bits] + parity(w) xor parity(q),

and of the 256 one-bit planes only 128 are left to add, by carry-save adders: 5 logic instructions each on AVX2, 2 on AVX-512.
A comparison with the bound, plane by plane, ends the step; only marked words are looked at one by one. The table of a tile
(32 kB at 256 bits) stays in the first-level cache while all queries of the batch pass over it.

Source: carry-save popcounts as in Mula, Kurz, Lemire, "Faster population counts using AVX2 instructions" (2018), here turned
to add across words; Arlazarov et al. (1970) for the tabulation.
"""

from __future__ import annotations

from functools import lru_cache

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from textveil.words.search.batches import aligned
from textveil.words.search.keep import address, broadcast, compiled, keep, keep_least, popcount

LANES = 8 if dict(llvmlite.binding.get_host_cpu_features()).get("avx512f") else 4
TILE = 64 * LANES
PATTERNS = 8  # three query bits choose one of these planes
MASKS = 16  # planes of a comparison: more than the bits of any distance up to 2^15
SAMPLE = 64  # words measured beforehand, so that the first tiles do not mark half of their words
WAITING = 7  # planes loaded before adding: independent adders side by side, without running out of registers

I64 = ir.IntType(64)


def adders_of(bits: int) -> int:
    """Number of chained adders: the first bit, then two bits each."""
    return bits // 2


def to_planes(codes: np.ndarray, bits: int) -> np.ndarray:
    """(tiles, bits, LANES) planes: bit i of word [t, b, l] is bit b of code number (t * LANES + l) * 64 + i."""
    tiles = -(-len(codes) // TILE)
    table = np.zeros((tiles * LANES, 64, codes.shape[1]), np.uint64)
    table.reshape(-1, codes.shape[1])[: len(codes)] = codes
    planes = np.empty((tiles, bits, LANES), np.uint64)
    for bit in range(bits):
        column = (table[:, :, bit // 64] >> np.uint64(bit % 64)).astype(np.uint8) & 1
        packed = np.packbits(column, axis=1, bitorder="little").view("<u8")
        planes[:, bit, :] = packed.reshape(tiles, LANES)
    return planes


def bound_masks(bits: int) -> np.ndarray:
    """Row d: the binary digits of d, lowest first, as words of all zeros or all ones."""
    digits = np.arange(bits + 1)[:, None] >> np.arange(MASKS) & 1
    return (np.uint64(0) - digits.astype(np.uint64)).ravel()


class Adder:
    """Emits the sum of planes: `add` one by one, `planes` gives the binary digits of the sum, lowest first."""

    def __init__(self, builder: ir.IRBuilder, vector: ir.VectorType):
        self.builder, self.vector, self.weights = builder, vector, [[] for _ in range(MASKS)]

    def add(self, plane: ir.Value) -> None:
        self.weights[0].append(plane)
        if len(self.weights[0]) >= WAITING:
            self._reduce()

    def planes(self, count: int) -> list[ir.Value]:
        self._reduce()
        for weight, waiting in enumerate(self.weights[:-1]):
            if len(waiting) == 3:
                self._full(weight)
            if len(waiting) == 2:
                a, b = waiting
                waiting[:] = [self.builder.xor(a, b)]
                self.weights[weight + 1].append(self.builder.and_(a, b))
        zero = ir.Constant(self.vector, [0] * self.vector.count)
        return [waiting[0] if waiting else zero for waiting in self.weights[:count]]

    def _reduce(self) -> None:
        for weight, waiting in enumerate(self.weights[:-1]):
            while len(waiting) >= 3:
                self._full(weight)

    def _full(self, weight: int) -> None:
        """Three planes of one weight become one of it and one of the next."""
        b = self.builder
        first, second, third = self.weights[weight][:3]
        del self.weights[weight][:3]
        half = b.xor(first, second)
        self.weights[weight].append(b.xor(half, third))
        self.weights[weight + 1].append(b.or_(b.and_(first, second), b.and_(half, third)))


def emit_screen(b: ir.IRBuilder, table, patterns, masks, marks, adders: int) -> ir.Value:
    """Code of `screen`: tabulated planes in, sum, comparison, marks out."""
    vector = ir.VectorType(I64, LANES)
    row = PATTERNS * LANES * 8  # bytes of one adder's planes

    def tabulated(adder: int) -> ir.Value:
        offset = b.zext(b.load(b.gep(patterns, [I64(adder)])), I64)
        offset = b.mul(offset, I64(LANES // 4))
        start = b.gep(b.bitcast(table, ir.IntType(8).as_pointer()), [I64(adder * row)])
        return b.load(b.bitcast(b.gep(start, [offset]), vector.as_pointer()), align=8)

    total = Adder(b, vector)
    for adder in range(adders):
        total.add(tabulated(adder))
    digits = [tabulated(adders), *total.planes(adders.bit_length())]
    within = ir.Constant(vector, [-1] * LANES)
    for place, digit in enumerate(digits):
        mask = broadcast(b, b.load(b.gep(masks, [I64(place)])), vector)
        zero = b.not_(digit)
        within = b.or_(b.and_(zero, b.or_(within, mask)), b.and_(within, mask))
    b.store(within, b.bitcast(marks, vector.as_pointer()), align=8)
    wide = ir.IntType(64 * LANES)
    return b.zext(b.icmp_unsigned("!=", b.bitcast(within, wide), wide(0)), I64)


@intrinsic(prefer_literal=True)
def screen(typing_context, table, patterns, masks, marks, adders):
    """Marks the words of a tile within the bound; returns whether there is any."""
    if not isinstance(adders, types.IntegerLiteral):
        return None
    count = adders.literal_value

    def generate(context, builder, signature, arguments):
        return emit_screen(builder, *arguments[:4], count)

    return types.int64(table, patterns, masks, marks, adders), generate


@compiled
def tabulate(planes, tile, table):
    """The majority planes of a tile, for each adder and each three query bits, and the parity plane at the end."""
    bits = planes.shape[1]
    adders = bits // 2
    parity = np.empty(LANES, np.uint64)
    for lane in range(LANES):
        parity[lane] = planes[tile, 0, lane]
    for adder in range(adders):
        first = 2 * adder + 1
        last = first + 1
        for lane in range(LANES):
            p = parity[lane]
            x = planes[tile, first, lane]
            y = planes[tile, last, lane] if last < bits else np.uint64(0)
            for pattern in range(PATTERNS):
                u = p ^ (np.uint64(0) - np.uint64(pattern & 1))
                v = x ^ (np.uint64(0) - np.uint64((pattern >> 1) & 1))
                w = y ^ (np.uint64(0) - np.uint64((pattern >> 2) & 1))
                table[adder, pattern, lane] = (u & v) | (w & (u ^ v))
            parity[lane] = p ^ x ^ y
    for lane in range(LANES):
        table[adders, 0, lane] = parity[lane]
        table[adders, 1, lane] = ~parity[lane]


@compiled
def query_patterns(queries, bits, patterns):
    """Per query and adder: its three bits, times 32 (the bytes of a plane of four lanes), and the parity at the end."""
    adders = bits // 2
    for i in range(queries.shape[0]):
        parity = queries[i, 0] & np.uint64(1)
        for adder in range(adders):
            first = 2 * adder + 1
            last = first + 1
            x = (queries[i, first >> 6] >> np.uint64(first & 63)) & np.uint64(1)
            y = np.uint64(0)
            if last < bits:
                y = (queries[i, last >> 6] >> np.uint64(last & 63)) & np.uint64(1)
            patterns[i, adder] = np.uint8((parity | (x << np.uint64(1)) | (y << np.uint64(2))) * np.uint64(32))
            parity ^= x ^ y
        patterns[i, adders] = np.uint8(parity * np.uint64(32))


@compiled
def distance_of(codes, j, queries, i):
    total = np.int64(0)
    for column in range(codes.shape[1]):
        total += np.int64(popcount(codes[j, column] ^ queries[i, column]))
    return total


@compiled
def sampled_bound(codes, queries, i, k, largest):
    """The k-th least distance within a sample of words: no answer lies beyond it."""
    n = codes.shape[0]
    step = max(1, n // (SAMPLE * k))
    if (n - 1) // step + 1 < k:
        return largest
    best = np.full(k, largest, np.int64)
    for j in range(0, n, step):
        keep_least(distance_of(codes, j, queries, i), best)
    return best[k - 1]


@compiled
def visit_marks(marks, tile, i, codes, queries, bound, distance, found, count, keys, words):
    """Measure the marked words of a tile and keep those that matter."""
    for lane in range(LANES):
        left = marks[lane]
        while left != 0:
            lowest = left & (np.uint64(0) - left)
            left ^= lowest
            j = (tile * LANES + lane) * 64 + np.int64(popcount(lowest - np.uint64(1)))
            if j < codes.shape[0]:
                d = distance_of(codes, j, queries, i)
                limit = keep(i, j, d, distance, found, count, keys, words)
                bound[i] = min(bound[i], limit)


@lru_cache(maxsize=16)
def scan_for(adders: int):
    """The scan compiled for one length of code: its sum of planes is straight-line code."""

    @compiled
    def scan(planes, codes, queries, patterns, masks, table, bound, distance, found, count, keys, words):
        marks = np.empty(LANES, np.uint64)
        for i in range(queries.shape[0]):
            bound[i] = sampled_bound(codes, queries, i, distance.shape[1], bound[i])
        for tile in range(planes.shape[0]):
            tabulate(planes, tile, table)
            for i in range(queries.shape[0]):
                of_query = address(patterns, i * (adders + 1))
                of_bound = address(masks, bound[i] * MASKS)
                if screen(address(table, 0), of_query, of_bound, address(marks, 0), adders) != 0:
                    visit_marks(marks, tile, i, codes, queries, bound, distance, found, count, keys, words)

    return scan


class Planes:
    """A code table prepared for scanning."""

    def __init__(self, codes: np.ndarray, bits: int):
        self.codes, self.bits = codes, bits
        self.planes, self.masks = to_planes(codes, bits), bound_masks(bits)

    def scan(self, queries: np.ndarray, distance, found, count, keys, words) -> None:
        """Fill the arrays of `keep` for a part of the batch."""
        adders = adders_of(self.bits)
        patterns = np.empty((len(queries), adders + 1), np.uint8)
        query_patterns(queries, self.bits, patterns)
        table = aligned((adders + 1) * PATTERNS * LANES, np.uint64).reshape(adders + 1, PATTERNS, LANES)
        bound = np.full(len(queries), self.bits, np.int64)
        scan_for(adders)(
            self.planes,
            self.codes,
            queries,
            patterns,
            self.masks,
            table,
            bound,
            distance,
            found,
            count,
            keys,
            words,
        )
