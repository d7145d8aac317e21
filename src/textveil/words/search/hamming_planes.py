"""Hamming distances as sums of bit planes, compiled. Imports numba, so it is itself imported late.

Claim. For a tile of 64 * LANES words and one query, `screen` marks exactly the words at distance <= bound, and `least` leaves
of them exactly those at the least distance.

Derivation. A plane holds one bit of many words, so one logic instruction serves 256 (512) words. The distance is the sum over
bits of w_b xor q_b. A full adder turns three bits into parity + 2 * majority. Chain the adders along the code: adder c takes
the parity left by its predecessor and bits 2c+1 and 2c+2. The parity of w xor q is the parity of w xor that of q, hence the
three inputs of an adder are known planes of the vocabulary, complemented by three bits of the query: its majority is one of
eight planes that can be tabulated per tile (the idea of the Four Russians). So

    distance = 2 * sum_c table[c][three query bits] + parity(w) xor parity(q),

and of the 256 one-bit planes only 128 are left to add, by carry-save adders: 5 logic instructions each on AVX2, 2 on AVX-512.
A comparison with the bound, plane by plane, ends the step. The table of a tile (32 kB at 256 bits, 64 kB on AVX-512) stays in
the nearest caches while all queries of the batch pass over it.

Few tiles hold a marked word (about 7 of 98 for 50,000 words), and nothing tells which: a branch on it would be mispredicted,
and with it the work already begun on the next queries lost. So some queries are screened in a row without a branch, those
with marks noted, and these are settled afterwards: digit by digit, the distances are still at hand as planes.

Source: carry-save popcounts as in Mula, Kurz, Lemire, "Faster population counts using AVX2 instructions" (2018), here turned
to add across words; Arlazarov et al. (1970) for the tabulation.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from textveil.text.compiled import compiled
from textveil.words.search import hamming_numpy
from textveil.words.search.batches import aligned
from textveil.words.search.keep import address, keep, keep_least, popcount
from textveil.words.search.plane_sums import LANES, MASKS, PATTERNS, WIDE, least, screen, slot_words

TILE = 64 * LANES
SAMPLE = 64  # words measured beforehand for the k nearest, so that the first tiles do not mark half of their words
IN_A_ROW = 32  # queries screened before those with marks are settled


@cache
def works_here(bits: int) -> bool:
    """Whether codes of this length can be scanned; the wide instructions have to agree with a direct computation first."""
    return not WIDE or agrees_with_numpy(bits)


def agrees_with_numpy(bits: int) -> bool:
    """Whether a scan of random codes, many of them equal, finds the distances that numpy finds and as many words there."""
    rng = np.random.default_rng()
    half, beyond = rng.integers(0, 2**64, (TILE, -(-bits // 64)), np.uint64), np.uint64(-bits % 64)
    half[:, -1] >>= beyond
    codes = np.concatenate([half, half[:99]])
    queries = half[:37] ^ half[37:74] ^ half[74:111]
    distance, count = np.full((len(queries), 1), bits + 1, np.int64), np.zeros(len(queries), np.int64)
    found, empty = np.zeros((len(queries), 1), np.int32), np.empty((len(queries), 0), np.uint64)
    try:
        Planes(codes, bits).scan(queries, distance, found, count, empty, np.empty(0, np.uint64))
    except Exception:  # whatever a compiler without this instruction raises
        return False
    table = hamming_numpy.distances(np.ascontiguousarray(codes.T), queries)
    nearest = table.min(axis=1, keepdims=True)
    return np.array_equal(distance, nearest) and np.array_equal(count, (table == nearest).sum(axis=1))


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
    """Per query and adder: its three bits, times 32 (the bytes of a plane of four lanes), and the parity at the end.

    Bit i of `parity` is the parity of bits 0 to i, for all i of a word at once; adder c takes bit 2c of it and bits 2c+1 and
    2c+2 of the code (zero beyond its end).
    """
    adders, columns = bits // 2, queries.shape[1]
    for i in range(queries.shape[0]):
        carried = np.uint64(0)
        for column in range(columns):
            parity = queries[i, column]
            for step in (1, 2, 4, 8, 16, 32):
                parity ^= parity << np.uint64(step)
            parity ^= np.uint64(0) - carried
            carried = parity >> np.uint64(63)
            later = queries[i, column + 1] << np.uint64(63) if column + 1 < columns else np.uint64(0)
            pair = queries[i, column] >> np.uint64(1) | later
            start = 32 * column
            for c in range(min(32, adders - start)):
                shift = np.uint64(2 * c)
                three = (parity >> shift & np.uint64(1)) | (pair >> shift & np.uint64(3)) << np.uint64(1)
                patterns[i, start + c] = np.uint8(three << np.uint64(5))
        patterns[i, adders] = np.uint8(carried << np.uint64(5))


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
def settle_nearest(distance_here, slot, tile, i, slots, bound, distance, found, count):
    """Note the words left in a slot, all at one distance, none above the least so far."""
    if distance_here < distance[i, 0]:
        distance[i, 0] = distance_here
        bound[i] = distance_here
        count[i] = 0
    for lane in range(LANES):
        left = slots[slot, lane]
        while left != 0:
            lowest = left & (np.uint64(0) - left)
            left ^= lowest
            if count[i] < found.shape[1]:
                found[i, count[i]] = (tile * LANES + lane) * 64 + np.int64(popcount(lowest - np.uint64(1)))
            count[i] += 1


@compiled
def settle_ranked(slot, tile, i, slots, codes, queries, bound, distance, found, count, keys, words):
    """Measure the marked words of a tile one by one and keep those that matter."""
    for lane in range(LANES):
        left = slots[slot, lane]
        while left != 0:
            lowest = left & (np.uint64(0) - left)
            left ^= lowest
            j = (tile * LANES + lane) * 64 + np.int64(popcount(lowest - np.uint64(1)))
            limit = keep(i, j, distance_of(codes, j, queries, i), distance, found, count, keys, words)
            bound[i] = min(bound[i], limit)


@compiled
def real_words(slot, slots, tile, n):
    """Take the marks off the padding of the last tile; whether any is left."""
    some = np.uint64(0)
    for lane in range(LANES):
        real = n - (tile * LANES + lane) * 64
        if real < 64:
            slots[slot, lane] &= (np.uint64(1) << np.uint64(max(real, 0))) - np.uint64(1)
        some |= slots[slot, lane]
    return some != 0


@lru_cache(maxsize=16)
def scan_for(adders: int):
    """The scan compiled for one length of code: its sum of planes is straight-line code."""

    @compiled
    def scan(planes, codes, queries, patterns, masks, table, slots, bound, distance, found, count, keys, words):
        hits = np.empty(IN_A_ROW + 1, np.int64)
        if keys.shape[1] != 0:
            for i in range(queries.shape[0]):
                bound[i] = sampled_bound(codes, queries, i, distance.shape[1], bound[i])
        for tile in range(planes.shape[0]):
            tabulate(planes, tile, table)
            for start in range(0, queries.shape[0], IN_A_ROW):
                many = 0
                for i in range(start, min(start + IN_A_ROW, queries.shape[0])):
                    hits[many] = i
                    of_query = address(patterns, i * (adders + 1))
                    of_bound = address(masks, bound[i] * MASKS)
                    slot = address(slots, many * slots.shape[1])
                    many += screen(address(table, 0), of_query, of_bound, slot, adders)
                for slot in range(many):
                    i = hits[slot]
                    if tile == planes.shape[0] - 1 and not real_words(slot, slots, tile, codes.shape[0]):
                        continue
                    if keys.shape[1] != 0:
                        settle_ranked(slot, tile, i, slots, codes, queries, bound, distance, found, count, keys, words)
                    else:
                        here = least(address(slots, slot * slots.shape[1]), adders)
                        settle_nearest(here, slot, tile, i, slots, bound, distance, found, count)

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
        slots = aligned((IN_A_ROW + 1) * slot_words(adders), np.uint64).reshape(IN_A_ROW + 1, slot_words(adders))
        bound = np.full(len(queries), self.bits, np.int64)
        scan_for(adders)(
            self.planes, self.codes, queries, patterns, self.masks, table, slots, bound,
            distance, found, count, keys, words,
        )  # fmt: skip
