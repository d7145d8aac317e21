"""Randomized response on packed bits: the flip odds exactly, the coin algorithm by enumeration, padding, shapes."""

from __future__ import annotations

from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from textveil.core.errors import BadParameter
from textveil.noise import Source, bits, secure, seeded

EPSILONS = [5e-324, 1e-300, 1e-17, 1e-12, 1e-3, 0.1, 0.5, 0.8, 1.0, 2.0, 3.7, 10.0, 25.0, 33.0, 33.2, 33.3, 47.9, 48.1]


class ScriptedWords:
    """A stream that hands out the words it was given, one block after the other."""

    seeded = True

    def __init__(self, words):
        self.words = list(words)

    def fill(self, out):
        out[:] = [self.words.pop(0)] * len(out)

    def spawn(self, n):
        return []


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_flip_odds_are_rounded_up_by_less_than_one_step(epsilon):
    """Both sides in 1,500 digits: (p - 2^-48)(1 + e^eps) < 1 <= p (1 + e^eps)."""
    p = bits.flip_probability(epsilon)
    with localcontext() as context:
        context.prec = 1500
        whole = 1 + Decimal(epsilon).exp()
        steps = Decimal(int(p * 2**bits.PRECISION))
        assert steps * whole >= 2**bits.PRECISION
        assert (steps - 1) * whole < 2**bits.PRECISION


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_loss_never_exceeds_epsilon(epsilon):
    """(1-p)/p <= e^eps and p <= 1/2, so the ratio is bounded both ways."""
    p = bits.flip_probability(epsilon)
    ratio = (1 - p) / p
    assert 0 < p <= Fraction(1, 2)
    with localcontext() as context:
        context.prec = 1500
        assert Decimal(ratio.numerator) <= Decimal(epsilon).exp() * ratio.denominator
    assert bits.true_epsilon(epsilon) <= epsilon


def test_digits_of_the_callers_decimal_context_do_not_matter():
    expected = bits.flip_probability(0.7)
    bits._multiples_needed.cache_clear()
    with localcontext():
        getcontext().prec = 3
        assert bits.flip_probability(0.7) == expected


def test_many_epsilons_against_the_slow_way():
    rng = np.random.default_rng()
    for epsilon in rng.exponential(3.0, 300).tolist():
        with localcontext() as context:
            context.prec = 80
            exact = 2**bits.PRECISION / (1 + Decimal(epsilon).exp())
            expected = int(exact) + (exact != int(exact))
        assert bits.flip_probability(epsilon) == Fraction(expected, 2**bits.PRECISION)


def test_large_epsilons_keep_the_smallest_odds():
    assert bits.flip_probability(1e308) == Fraction(1, 2**bits.PRECISION)
    assert bits.true_epsilon(1e308) == pytest.approx(33.271, abs=1e-3)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True, "1", [1]])
def test_other_epsilons_are_refused(epsilon):
    bits.flip_probability(1.0)  # 1.0 == True: a cache must not answer for the check
    with pytest.raises(BadParameter, match="epsilon must be"):
        bits.flip_probability(epsilon)


@pytest.mark.parametrize("numerator", range(16))
def test_coins_by_enumeration(numerator):
    """p = numerator/16 has up to 4 binary digits: over all values of the random bits exactly p of the coins are one."""
    p = Fraction(numerator, 16)
    rounds = len(bits._binary_digits(p))
    ones = 0
    for words in product([0, 1], repeat=rounds):
        ones += int(bits.coins(Source(ScriptedWords(words)), 1, p)[0])
    assert Fraction(ones, 2**rounds) == p


@pytest.mark.parametrize("probability", [Fraction(1), Fraction(1, 3), Fraction(-1, 2), Fraction(1, 2**49)])
def test_coins_of_other_odds_are_refused(probability):
    with pytest.raises(BadParameter, match="probability must be"):
        bits.coins(seeded(1), 1, probability)


@pytest.mark.parametrize(("width", "count"), [(1, 1), (1, 63), (1, 64), (2, 65), (4, 256), (3, 100)])
def test_padding_stays_zero_and_the_rest_is_reached(width, count):
    codes = np.zeros((2000, width), np.uint64)
    noised = bits.flip(secure(), codes, count, 1e-6)
    seen = np.bitwise_or.reduce(noised, axis=0)
    assert int.from_bytes(seen.astype("<u8").tobytes(), "little") == (1 << count) - 1  # each bit: missed with 2^-2000


def test_nothing_is_edited_in_place():
    codes = secure().words(40).reshape(10, 4)
    before = codes.copy()
    codes.setflags(write=False)
    bits.flip(secure(), codes, 256, 0.1)
    assert (codes == before).all()


def test_almost_infinite_epsilon_changes_nothing():
    codes = secure().words(400).reshape(100, 4)
    assert (bits.flip(secure(), codes, 256, 1e300) == codes).all()  # false alarm: 25,600 / 2^48 < 1e-10


def test_a_seed_repeats_and_blocks_leave_no_seam():
    codes = np.zeros((5000, 4), np.uint64)
    assert (bits.flip(seeded(4), codes, 256, 0.5) == bits.flip(seeded(4), codes, 256, 0.5)).all()


@pytest.mark.parametrize("shape", [(0, 4), (1, 4), (3, 0)])
def test_small_shapes(shape):
    if shape[1] == 0:
        with pytest.raises(BadParameter, match="bits must be"):
            bits.flip(seeded(1), np.zeros(shape, np.uint64), 1, 1.0)
    else:
        assert bits.flip(seeded(1), np.zeros(shape, np.uint64), 256, 1.0).shape == shape


@pytest.mark.parametrize("codes", [np.zeros((2, 2)), np.zeros(4, np.uint64), np.zeros((2, 2), np.int64)])
def test_other_codes_are_refused(codes):
    with pytest.raises(BadParameter, match="codes must be rows of uint64 words"):
        bits.flip(seeded(1), codes, 4, 1.0)
