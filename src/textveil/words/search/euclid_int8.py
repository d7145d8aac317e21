"""Euclidean neighbours screened by a product of 8-bit integers, compiled. Imports numba, so it is itself imported late.

Claim. The words of least float64 distance are never screened out: every word j whose score is at most that of the k-th best
word known so far is measured in float64.

Derivation. With x_j = v_j - mean and y = q - mean, ||q - v_j||^2 = ||y||^2 + 2 s_j, s_j = ||x_j||^2 / 2 - x_j.y. Write
x_j = a_j X_j + e_j and y = b Y + f with small integers X_j, Y. Then x_j.y = a_j b X_j.Y + e_j.y + a_j X_j.f, hence
(Cauchy, Schwarz)

    s_j >= ||x_j||^2 / 2 - a_j b X_j.Y - ||e_j|| ||y|| - ||a_j X_j|| ||f||.                                        (1)

Queries go by length in groups; with the largest ||y|| and ||f|| of a group, all of (1) but the product is one number per
word (`floor`). Rounding: X_j.Y is exact, a_j and b are float32 numbers to begin with, and the evaluation in float32 errs by
at most 4 u (|floor_j| + ||a_j X_j|| ||b Y||), u = 2^-24; 16 u is taken off, and 1e-35 for numbers below the normal range.
Float64 rounding in s and in the distances is covered by 2^-36 of the squares involved (d <= 4096). Values up to 1e15 keep
all of it inside float32, so NaN does not occur.

Products. |X| <= 63 is stored as X + 64 in an unsigned byte, |Y| <= 127 in a signed one, so that the sum of two products, at
most 2 * 127 * 127, never saturates the 16 bits of the instruction (vpmaddubsw). Sums of 16 bits are then allowed to wrap:
the offset 64 * sum(Y) is taken off at the start, and the true sum of a lane (every other pair of coordinates) fits in 16
bits since a_j and b are chosen such that ||X_j|| ||Y|| <= 32767 on that lane. AVX512-VNNI sums in 32 bits, so |X| <= 127 and
no lane limits it: finer integers, and far fewer words to measure. (In more than 1,040 dimensions a sum can pass 2^24;
float32 then loses one more u of it, which 16 u covers.)
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from textveil.text.compiled import compiled
from textveil.words.search.batches import aligned
from textveil.words.search.int8_dots import NARROW, QUERIES, STEP, WIDE, WORDS, screen
from textveil.words.search.keep import address, keep, keep_least, popcount

GROUP = 256  # queries of similar length that share their floors
SAMPLE = 16  # words measured beforehand, so that the first blocks do not keep half of their words
WAITING = 512  # words put off per query
CACHE = 1 << 14  # bytes of words that stay in the first-level cache while the queries of a group pass
OFFSET, WORD_MOST, QUERY_MOST = (128, 127, 127) if WIDE else (64, 63, 127)
LANE_LIMIT = 1e9 if WIDE else 32767.0
WORD_LENGTH = 1e4 if WIDE else 170.0  # aimed at for a lane of X; 170 leaves about 190 for a lane of Y
MOST_COLUMNS = 4096
UNIT = 2.0**-24
SLACK = 2.0**-36
TINY = 1e-35  # far above what float32 loses below its normal range


@cache
def works_here() -> bool:
    """Whether this processor has the instructions; the wide ones have to agree with a direct computation first."""
    return NARROW and (not WIDE or agrees_with_numpy())


def agrees_with_numpy() -> bool:
    """Whether scans of small integers, with many ties, find the distances that numpy finds."""
    rng = np.random.default_rng()
    matrix, queries = (rng.integers(-40, 41, (rows, 70)).astype(np.float32) for rows in (203, 37))
    squared, count = np.full((len(queries), 1), np.inf), np.zeros(len(queries), np.int64)
    found = np.zeros((len(queries), 1), np.int32)
    try:
        empty = np.empty((len(queries), 0), np.uint64)
        Blocks(matrix).scan(queries, squared, found, count, empty, np.empty(0, np.uint64))
    except Exception:  # whatever a compiler without this instruction raises
        return False
    return bool(np.array_equal(squared[:, 0], ((queries[:, None] - matrix[None]) ** 2).sum(axis=2).min(axis=1)))


def lanes_of(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates that share a 16-bit sum: the first and the second pair of every four."""
    return columns[..., np.arange(columns.shape[-1]) % 4 < 2], columns[..., np.arange(columns.shape[-1]) % 4 >= 2]


@compiled
def pack_queries(queries, order, mean, longest_lane, packed, starts, unit, length, residue):
    """Integers Y of the queries in `order`, four by four and step by step, with what the bound needs to know of them."""
    d = mean.shape[0]
    y = np.empty(d)
    for place in range(order.shape[0]):
        i = order[place]
        most, square = 0.0, np.zeros(2)
        for c in range(d):
            y[c] = np.float64(queries[i, c]) - mean[c]
            most = max(most, abs(y[c]))
            square[(c >> 1) & 1] += y[c] * y[c]
        lane = np.sqrt(max(square[0], square[1]))
        room = LANE_LIMIT / longest_lane - np.sqrt(d / 2 + 1) / 2 - 1  # rounding adds up to half a unit a coordinate
        b = np.float32(max(most / QUERY_MOST, lane / room) * 1.000001)
        if not b > np.float32(TINY):
            b = np.float32(TINY)
        lost = 0.0
        sums = np.zeros(2, np.int64)
        for c in range(d):
            whole_number = np.rint(y[c] / b)
            lost += (y[c] - b * whole_number) ** 2
            packed[place // QUERIES, c // STEP, place % QUERIES, c % STEP] = np.int8(whole_number)
            sums[(c >> 1) & 1] += np.int64(whole_number)
        if WIDE:
            starts[place] = np.int32(-OFFSET * (sums[0] + sums[1]))
        else:
            low, high = (-OFFSET * sums[0]) & 0xFFFF, (-OFFSET * sums[1]) & 0xFFFF
            starts[place] = np.int32(low | (high << 16))
        unit[place] = b
        length[place] = np.sqrt(square[0] + square[1])
        residue[place] = np.sqrt(lost)


@partial(compiled, fastmath={"reassoc", "contract"})
def squared_distance(matrix, j, queries, i):
    """||q_i - v_j||^2 in float64; the compiler may choose the order of the sum, the same for every pair."""
    total = 0.0
    for c in range(matrix.shape[1]):
        difference = np.float64(queries[i, c]) - np.float64(matrix[j, c])
        total += difference * difference
    return total


@compiled
def fill_floors(half_square, lost, size, longest, residue, floor):
    """(1) without its product, lowered by what float32 may lose."""
    for j in range(half_square.shape[0]):
        product = size[j] * (longest + residue)
        exact = half_square[j] - lost[j] * longest - size[j] * residue
        floor[j] = np.float32(exact - 16 * UNIT * (abs(exact) + product) - TINY)


@compiled
def limit_of(squared, length, scale):
    """The largest score that a word at this squared distance can have, rounded up to float32."""
    if squared == np.inf:
        return np.float32(np.inf)
    score = (squared - length * length) / 2
    score += SLACK * (squared + length * length + scale)
    return np.float32(score + abs(score) * 2.0**-22)


@compiled
def sampled_bound(matrix, queries, i, k):
    """The k-th least squared distance within a sample of words: no answer lies beyond it."""
    n = matrix.shape[0]
    step = max(1, n // (SAMPLE * k))
    best = np.full(k, np.inf)
    for j in range(0, n, step):
        keep_least(squared_distance(matrix, j, queries, i), best)
    return best[k - 1]


@compiled
def measure(place, j, order, matrix, queries, length, scale, limit, distance, found, count, keys, words):
    """Note the float64 distance of a word, and with it the limit of the query."""
    i = order[place]
    beyond = keep(i, j, squared_distance(matrix, j, queries, i), distance, found, count, keys, words)
    limit[place] = min(limit[place], limit_of(beyond, length[place], scale))


@compiled
def measure_waiting(
    place, waiting, low_of_waiting, waits, order, matrix, queries, length, scale, limit, distance, found, count, keys, words
):  # fmt: skip
    """Measure the words put off, except those that the limit has left behind since."""
    for slot in range(waits[place]):
        if not low_of_waiting[place, slot] > limit[place]:
            measure(
                place, waiting[place, slot], order, matrix, queries, length, scale, limit,
                distance, found, count, keys, words,
            )  # fmt: skip
    waits[place] = 0


@compiled
def scan(
    matrix, blocks, unit_of_word, floor, scale, queries, order, packed, starts, unit, length,
    distance, found, count, keys, words,
):  # fmt: skip
    """One group of queries against all words.

    To measure a word means to fetch its vector from memory. So only a word with one of the k least bounds so far is measured
    at once, which keeps the limit low; the others wait, and at the end few of them are still within the limit.
    """
    steps, k, many = blocks.shape[1], distance.shape[1], order.shape[0]
    limit = np.full(packed.shape[0] * QUERIES, -np.inf, np.float32)
    lows = np.empty(QUERIES * WORDS, np.float32)
    least = np.full((many, k), np.inf, np.float32)
    waiting, low_of_waiting = np.empty((many, WAITING), np.int32), np.empty((many, WAITING), np.float32)
    waits = np.zeros(many, np.int64)
    for place in range(many):
        limit[place] = limit_of(sampled_bound(matrix, queries, order[place], k), length[place], scale)
    tile = max(1, CACHE // (steps * WORDS * STEP))
    for start in range(0, blocks.shape[0], tile):
        for four in range(packed.shape[0]):
            for block in range(start, min(start + tile, blocks.shape[0])):
                bits = screen(
                    address(blocks, block * steps * WORDS * STEP),
                    address(packed, four * steps * QUERIES * STEP),
                    address(starts, four * QUERIES),
                    steps,
                    address(unit_of_word, block * WORDS),
                    address(floor, block * WORDS),
                    address(unit, four * QUERIES),
                    address(limit, four * QUERIES),
                    address(lows, 0),
                )
                while bits != 0:
                    lowest = bits & (np.uint64(0) - bits)
                    bits ^= lowest
                    position = np.int64(popcount(lowest - np.uint64(1)))
                    place, j, low = four * QUERIES + position // WORDS, block * WORDS + position % WORDS, lows[position]
                    if place >= many or j >= matrix.shape[0]:
                        continue
                    if low < least[place, k - 1]:
                        keep_least(low, least[place])
                        measure(
                            place, j, order, matrix, queries, length, scale, limit,
                            distance, found, count, keys, words,
                        )  # fmt: skip
                    else:
                        waiting[place, waits[place]] = j
                        low_of_waiting[place, waits[place]] = low
                        waits[place] += 1
                        if waits[place] == WAITING:
                            measure_waiting(
                                place, waiting, low_of_waiting, waits, order, matrix, queries, length, scale, limit,
                                distance, found, count, keys, words,
                            )  # fmt: skip
    for place in range(many):
        measure_waiting(
            place, waiting, low_of_waiting, waits, order, matrix, queries, length, scale, limit,
            distance, found, count, keys, words,
        )  # fmt: skip


@compiled
def tied_word(matrix, queries, i, squared, rank):
    """Of the words at this squared distance of query i, number `rank` in index order."""
    for j in range(matrix.shape[0]):
        if squared_distance(matrix, j, queries, i) == squared:
            if rank == 0:
                return j
            rank -= 1
    return -1


class Blocks:
    """A matrix prepared for scanning: integers in blocks of sixteen words, four coordinates at a time."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix
        n, d = matrix.shape
        self.steps, count = -(-d // STEP), -(-n // WORDS)
        self.mean = matrix.mean(axis=0, dtype=np.float64)
        x = matrix - self.mean
        lane = np.sqrt(np.maximum(*((part * part).sum(axis=1) for part in lanes_of(x))))
        unit = np.maximum(np.abs(x).max(axis=1) / WORD_MOST, lane / WORD_LENGTH) * 1.000001
        unit = np.maximum(unit, TINY).astype(np.float32)
        integers = np.rint(x / unit[:, None])
        approximate = integers * unit[:, None]
        self.half_square = self._padded((x * x).sum(axis=1) / 2, count, 1e36)  # never within a limit
        self.lost = self._padded(np.linalg.norm(x - approximate, axis=1), count, 0.0)
        self.size = self._padded(np.linalg.norm(approximate, axis=1), count, 0.0)
        self.unit = self._padded(unit, count, 0.0).astype(np.float32)
        self.longest_lane = max(
            1.0, *(float(np.linalg.norm(part, axis=1).max(initial=0.0)) for part in lanes_of(integers))
        )
        self.scale = float((x * x).sum(axis=1).max() + self.mean @ self.mean)
        self.blocks = self._blocked(integers, count)

    def scan(self, queries: np.ndarray, distance, found, count, keys, words) -> None:
        """Fill the arrays of `keep`, with squared distances, for a part of the batch."""
        by_length = np.argsort(np.einsum("ij,ij->i", queries, queries), kind="stable")
        for start in range(0, len(queries), GROUP):
            order = by_length[start : start + GROUP]
            fours = -(-len(order) // QUERIES)
            packed = np.zeros((fours, self.steps, QUERIES, STEP), np.int8)
            starts, unit = np.zeros(fours * QUERIES, np.int32), np.zeros(fours * QUERIES, np.float32)
            length, residue = np.zeros(len(order)), np.zeros(len(order))
            pack_queries(queries, order, self.mean, self.longest_lane, packed, starts, unit, length, residue)
            floor = np.empty(len(self.half_square), np.float32)
            fill_floors(self.half_square, self.lost, self.size, length.max(), residue.max(), floor)
            scan(
                self.matrix, self.blocks, self.unit, floor, self.scale, queries, order, packed, starts, unit, length,
                distance, found, count, keys, words,
            )  # fmt: skip

    def tied_word(self, queries: np.ndarray, i: int, squared: float, rank: int) -> int:
        """For queries with more equally near words than a scan notes."""
        return tied_word(self.matrix, queries, i, squared, rank)

    @staticmethod
    def _padded(values: np.ndarray, count: int, filler: float) -> np.ndarray:
        return np.concatenate([values, np.full(count * WORDS - len(values), filler)])

    def _blocked(self, integers: np.ndarray, count: int) -> np.ndarray:
        whole_table = np.full((count * WORDS, self.steps * STEP), OFFSET, np.uint8)
        whole_table[: len(integers), : integers.shape[1]] = (integers + OFFSET).astype(np.uint8)
        blocks = aligned(whole_table.size, np.uint8).reshape(count, self.steps, WORDS, STEP)
        blocks[:] = whole_table.reshape(count, WORDS, self.steps, STEP).transpose(0, 2, 1, 3)
        return blocks
