"""Randomized response on packed bits: every bit of a binary code is flipped independently.

Claim. Flipping each bit with probability p >= 1 / (1 + e^epsilon), p <= 1/2, is epsilon-metric-DP for the Hamming distance.
Derivation. A bit of the output is (1-p)/p times likelier under the equal input bit than under the other one, at most
e^epsilon; bits are independent, so two codes that differ in h bits are told apart by at most e^(epsilon h).
Rounding. p is the smallest multiple of 2^-48 that is at least 1 / (1 + e^epsilon), found by exact reasoning: the loss never
exceeds epsilon. It cannot exceed log(2^48 - 1) = 33.27 per bit either, however large epsilon is.

Algorithm. 64 coins at once: let p = 0.b1 b2 ... in binary and let U be uniform with digits u1 u2 ..., so that U < p has
probability p. The first digit in which they differ decides: the coin is one if it is 0 in U (and 1 in p). Random words give
a digit of 64 numbers U at a time; after twelve digits only one word in sixty has a coin open, and only such words go on. A
coin still open after the last digit of p has U >= p and is zero: exactly p, and no floating point is involved.

Source. Warner 1965 (randomized response); Silva Carvalho et al. 2021, BRR, Theorem 3 (binary embeddings).
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.core.errors import BadParameter
from textveil.core.params import positive, positive_integer

from .source import Source
from .streams import POOL_WORDS, Words

PRECISION = 48
_SOON = 12  # digits looked at for all words
_ALL = np.uint64(2**64 - 1)


def flip(source: Source, codes: npt.NDArray[np.uint64], bits: int, epsilon: float) -> npt.NDArray[np.uint64]:
    """New codes: the first `bits` bits of each row flipped independently, everything beyond them 0.

    Bit i is bit i % 64 of word i // 64.

    >>> from textveil.noise import seeded
    >>> flip(seeded(1), np.array([[5]], np.uint64), bits=4, epsilon=30.0)
    array([[5]], dtype=uint64)
    """
    probability = flip_probability(epsilon)
    kept = _kept_bits(codes, bits)
    flips = coins(source, codes.size, probability).reshape(codes.shape)
    flips ^= codes
    flips &= kept
    return flips


def flip_probability(epsilon: float) -> Fraction:
    """The smallest multiple of 2^-48 at or above 1 / (1 + e^epsilon).

    >>> float(flip_probability(1.0)), 1 / (1 + math.exp(1.0))
    (0.2689414213699983, 0.2689414213699951)
    """
    return Fraction(_multiples_needed(positive("epsilon", epsilon)), 2**PRECISION)


def true_epsilon(epsilon: float) -> float:
    """The loss per bit after rounding, log((1-p)/p): at most epsilon, and at most 33.27.

    >>> round(true_epsilon(1000.0), 2)
    33.27
    """
    p = flip_probability(epsilon)
    return min(epsilon, math.log((1 - p) / p))


def coins(source: Source, count: int, probability: Fraction) -> Words:
    """`count` words whose 64 bits are independently one with exactly `probability`, a multiple of 2^-PRECISION."""
    digits = _binary_digits(probability)
    out: Words = np.zeros(count, np.uint64)
    for start in range(0, count, POOL_WORDS):
        block = out[start : start + POOL_WORDS]
        still = np.full(len(block), _ALL, np.uint64)
        _decide(source, block, still, digits[:_SOON])
        places = np.flatnonzero(still)
        if len(digits) > _SOON and len(places):
            rest, still = block[places], still[places]
            _decide(source, rest, still, digits[_SOON:])
            block[places] = rest
    return out


def _decide(source: Source, block: Words, still: Words, digits: list[bool]) -> None:
    """Go on through some digits of p: set the coins that become one, and take the decided ones off `still`, in place."""
    random: Words = np.empty(len(block), np.uint64)
    for digit in digits:
        source.fill(random)
        random &= still  # open coins whose U has a 0 here: a random one stands for the digit 0
        if digit:
            block |= random
            still ^= random
        else:
            still[:] = random


def _binary_digits(probability: Fraction) -> list[bool]:
    """Binary digits after the point, from the first to the last one that is 1."""
    multiple = probability * 2**PRECISION
    if multiple.denominator != 1 or not 0 <= multiple < 2**PRECISION:
        raise BadParameter("probability", probability, f"a multiple of 2^-{PRECISION} from 0 to below 1")
    value = int(multiple)
    last = (value & -value).bit_length() - 1 if value else PRECISION
    return [bool(value >> place & 1) for place in reversed(range(last, PRECISION))]


@lru_cache(maxsize=64)
def _multiples_needed(epsilon: float) -> int:
    """ceil(2^PRECISION / (1 + e^epsilon)).

    Each of the three decimal operations errs by at most 10^(1-digits) / 2 of its result, so the truth lies within
    10^(2-digits) of what they give. e^epsilon is irrational for a rational epsilon > 0, hence the truth is no whole number
    and some number of digits tells its ceiling.
    """
    if epsilon > PRECISION:  # e^epsilon > 2^PRECISION: one multiple is enough
        return 1
    digits = 40
    while True:
        context = Context(prec=digits)
        whole = context.add(context.exp(Decimal(epsilon)), 1)
        near = Fraction(context.divide(2**PRECISION, whole))
        error = near / 10 ** (digits - 2)
        if (needed := math.ceil(near - error)) == math.ceil(near + error):
            return needed
        digits *= 2


def _kept_bits(codes: npt.NDArray[Any], bits: int) -> Words:
    """A mask of the first `bits` bits of a row, after checking that codes are rows of words with room for them."""
    bits = positive_integer("bits", bits)
    if codes.dtype != np.uint64 or codes.ndim != 2:
        raise BadParameter("codes", f"{codes.dtype} of shape {codes.shape}", "rows of uint64 words")
    words = codes.shape[1]
    if bits > 64 * words:
        raise BadParameter("bits", bits, f"at most {64 * words}, the bits of a code")
    mask = (1 << bits) - 1
    return np.array([mask >> (64 * i) & (2**64 - 1) for i in range(words)], np.uint64)
