"""Two-sided geometric noise from a table: exact like OpenDP's, thousands of times faster, for dense matrices.

Claim. Every draw has exactly the law P(k) = (1 - a) / (1 + a) * a^|k|, a = exp(-1 / scale), given uniform words. Its
total-variation distance to the law is 0, so a release adds no delta for having used a table.

Derivation. Let U be uniform in [0, 1) and T_k = P(X <= k): X is the number of thresholds at or below U. U is known by its
first bits only, and usually they are enough:
1. 16 bits, a quarter of a word. If no threshold begins with them, a guide table has the answer (over 98 of 100 draws).
2. 64 bits. With t_k = floor(2^64 T_k), a word above t_k lies above T_k and a word below t_k below it.
3. A word equal to t_k (chance about 2^-50 over all k) decides nothing: T_k is computed to more bits, and U gets more, until
   they differ. T_k is irrational (Lindemann), so they do.
Beyond -K .. K the table has two tails, of chance 2^-24 in all. The law has no memory: given |X| > K, |X| - K - 1 is
geometric, which is the law of X given X >= 0. A draw from a tail is therefore one more draw from the table, repeated until
it is 0 or more.
Thresholds. T_k = a^-k / (1 + a) for k < 0, T_k = 1 - T_(-k-1) for k >= 0, in decimals of 60 digits or more. A floor is taken
only where the error bound leaves no doubt about it; otherwise the number of digits is doubled.

Source. Ghosh, Roughgarden, Sundararajan 2009 (the mechanism); inversion with a guide table: Chen and Asau 1974.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from textveil.core.errors import BadParameter
from textveil.core.params import positive

from .source import Shape, Source
from .streams import POOL_WORDS, Words

Draws = npt.NDArray[np.int32]

LARGEST_SCALE = 2.0**11  # beyond it the table outgrows the processor's cache; OpenDP has no such limit
_WORD_BITS, _TAIL_BITS, _PREFIX_BITS = 64, 24, 16
_DIGITS = 60
_UNCLEAR = -(2**15)  # values that do not fit beside it are left to step 2


def table_geometric(source: Source, size: Shape, scale: float) -> Draws:
    """Draws of P(k) ~ exp(-|k| / scale); a new array of shape `size`.

    >>> from textveil.noise import seeded
    >>> table_geometric(seeded(1), (2, 3), 0.01).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    out = np.empty(size, np.int32)
    table_for(scale).fill(source, out.reshape(-1))
    return out


@lru_cache(maxsize=16)
def table_for(scale: float) -> GeometricTable:
    """The table of a scale; it holds public numbers only."""
    return GeometricTable(scale)


class GeometricTable:
    """Thresholds of one law and the guide to them.

    `word_bits` and `tail_bits` are what the header calls 64 and 24. Smaller ones make the rare steps 2 and 3 and the tails
    frequent, so that tests can see them: the law does not depend on either.

    >>> table = GeometricTable(20.0)
    >>> table.reach, f"{table.unclear_share:.4f}"
    (346, '0.0051')
    """

    def __init__(self, scale: float, *, word_bits: int = _WORD_BITS, tail_bits: int = _TAIL_BITS):
        self.scale = positive("scale", scale)
        if self.scale > LARGEST_SCALE:
            raise BadParameter("scale", scale, f"at most {LARGEST_SCALE:g} for a table")
        self.word_bits = word_bits
        self.reach = _reach(self.scale, tail_bits)  # the table holds -reach .. reach
        floors = floors_below(self.scale, self.reach + 1, word_bits)
        top = (1 << word_bits) - 1
        self._floors = np.array(floors[::-1] + [top - f for f in floors], np.uint64)  # floor(2^b (1 - T)) = 2^b - 1 - f
        if (self._floors[1:] == self._floors[:-1]).any():
            raise BadParameter("word_bits", word_bits, "large enough to tell neighbouring thresholds apart")
        self._guide = self._make_guide()

    @property
    def unclear_share(self) -> float:
        """The share of draws that 16 bits do not decide."""
        return float(np.mean(self._guide == _UNCLEAR))

    def fill(self, source: Source, out: Draws) -> None:
        """Overwrite a one-dimensional array with draws."""
        words: Words = np.empty(POOL_WORDS, np.uint64)
        prefixes = words.view(np.uint16)
        for start in range(0, len(out), len(prefixes)):
            block = out[start : start + len(prefixes)]
            needed = -(-len(block) // 4)
            source.fill(words[:needed])
            values = self._guide.take(prefixes[: len(block)])
            unclear = np.flatnonzero(values == _UNCLEAR)
            block[:] = values
            if len(unclear):
                block[unclear] = self._decide(prefixes[unclear], source)

    def _make_guide(self) -> npt.NDArray[np.int16]:
        """For each prefix the value it decides, or _UNCLEAR where a threshold begins with it (and for the tails)."""
        shift = self.word_bits - _PREFIX_BITS
        starts = np.arange(2**_PREFIX_BITS + 1, dtype=object) << shift
        below = np.array([0, *np.searchsorted(self._floors, starts[1:-1].astype(np.uint64)), len(self._floors)])
        values = below[:-1] - self.reach - 1
        tails = (below[:-1] == 0) | (below[:-1] == len(self._floors))
        values[(below[:-1] != below[1:]) | tails | (np.abs(values) >= -_UNCLEAR)] = _UNCLEAR
        return values.astype(np.int16)

    def _decide(self, prefixes: npt.NDArray[np.uint16], source: Source) -> Draws:
        """Steps 2 and 3, and the tails, for draws that begin with these bits."""
        more = self.word_bits - _PREFIX_BITS
        words = source.words(len(prefixes)) >> np.uint64(64 - more)
        words |= prefixes.astype(np.uint64) << np.uint64(more)
        places = np.searchsorted(self._floors, words)
        equal = np.flatnonzero(self._floors[np.minimum(places, len(self._floors) - 1)] == words)
        for i in equal:
            places[i] += self._lies_above(int(words[i]), int(places[i]), source)
        values = (places - self.reach - 1).astype(np.int32)
        tails = np.flatnonzero(np.abs(values) > self.reach)
        if len(tails):
            values[tails] = np.sign(values[tails]) * (self.reach + 1 + self._one_sided(len(tails), source))
        return values

    def _lies_above(self, word: int, place: int, source: Source) -> bool:
        """Whether U, which begins with this word, lies above the threshold that begins with it too."""
        bits, known = self.word_bits, word
        while True:
            bits, known = bits + 64, known << 64 | int(source.words(1)[0])
            bound = self._floor_at(place, bits)
            if known != bound:
                return known > bound

    def _floor_at(self, place: int, bits: int) -> int:
        """floor(2^bits T) of one threshold."""
        k = place - self.reach - 1
        power = -k if k < 0 else k + 1
        floor = _floor_of(self.scale, power, bits)
        return floor if k < 0 else (1 << bits) - 1 - floor

    def _one_sided(self, count: int, source: Source) -> Draws:
        """Geometric draws: the two-sided law, given that it is 0 or more."""
        out = np.full(count, -1, np.int32)
        while len(missing := np.flatnonzero(out < 0)):
            again = np.empty(len(missing), np.int32)
            self.fill(source, again)
            out[missing] = again
        return out


def _reach(scale: float, tail_bits: int) -> int:
    """About the smallest K with P(|X| > K) below 2^-tail_bits; the law does not depend on it."""
    return max(0, math.ceil(scale * (tail_bits + 1) * math.log(2)) - 1)


def floors_below(scale: float, count: int, bits: int) -> list[int]:
    """floor(2^bits a^j / (1 + a)) for j = 1 .. count, each certain."""
    digits = _DIGITS
    while True:
        context = Context(prec=digits)
        base = context.exp(context.divide(Decimal(-1), Decimal(scale)))
        value = context.divide(1 << bits, context.add(1, base))
        floors: list[int] = []
        for _ in range(count):
            value = context.multiply(value, base)
            floor = _certain_floor(value, digits)
            if floor is None:
                break
            floors.append(floor)
        if len(floors) == count:
            return floors
        digits *= 2


def _floor_of(scale: float, power: int, bits: int) -> int:
    digits = _DIGITS + bits  # more than enough for bits * log10(2)
    while True:
        context = Context(prec=digits)
        base = context.exp(context.divide(Decimal(-1), Decimal(scale)))
        value = context.divide(context.multiply(context.power(base, power), 1 << bits), context.add(1, base))
        floor = _certain_floor(value, digits)
        if floor is not None:
            return floor
        digits *= 2


def _certain_floor(value: Decimal, digits: int) -> int | None:
    """The floor, if it is the same for everything within 10^(12 - digits) of the value, relatively.

    Each operation errs by at most 10^(1 - digits) relatively. exp(-1 / scale) inherits the error of its argument, times the
    argument, which is 1/scale; a power of j multiplies it by j. j / scale is at most 20 (_reach), or j is 1, where a scale
    below 10^-8 gives a value far below 1, whose floor is 0 whatever its error: 10^11 times one error is a safe bound.
    """
    exact = Fraction(value)
    error = exact / 10 ** (digits - 12)
    floor = math.floor(exact - error)
    return floor if floor == math.floor(exact + error) else None
