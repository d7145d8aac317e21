"""The table sampler against an oracle that knows every threshold to 400 digits, on words that were chosen to be nasty."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.core.errors import BadParameter
from textveil.noise import secure, seeded
from textveil.noise.table import GeometricTable, floors_below, table_for, table_geometric

CONTEXT = Context(prec=400)


class Scripted:
    """A source that hands out given words, then random ones."""

    seeded = True

    def __init__(self, words: list[int]):
        self._script, self._rest = list(words), seeded(1)

    def fill(self, out: np.ndarray) -> None:
        for i in range(len(out)):
            out[i] = self._script.pop(0) if self._script else self._rest.words(1)[0]

    def words(self, n: int) -> np.ndarray:
        out = np.empty(n, np.uint64)
        self.fill(out)
        return out


def threshold(scale: float, k: int) -> Fraction:
    """P(X <= k)."""
    base = CONTEXT.exp(CONTEXT.divide(-1, Decimal(scale)))
    tail = CONTEXT.divide(CONTEXT.power(base, -k if k < 0 else k + 1), CONTEXT.add(1, base))
    return Fraction(tail) if k < 0 else 1 - Fraction(tail)


def oracle(scale: float, u: Fraction, reach: int) -> int:
    """The smallest k with u < P(X <= k), from -reach - 1 (left tail) to reach + 1 (right tail)."""
    return next((k for k in range(-reach - 1, reach + 1) if u < threshold(scale, k)), reach + 1)


def draw(table: GeometricTable, prefix: int, rest: int, more: list[int]) -> int:
    """One draw whose U begins with a prefix of 16 bits, then `rest`, then the words of `more`."""
    bits = table.word_bits - 16
    script = [prefix, rest << (64 - bits), *more]  # little-endian: the first quarter of a word is its lowest 16 bits
    out = np.empty(1, np.int32)
    table.fill(Scripted(script), out)
    return int(out[0])


@settings(max_examples=150, deadline=None)
@given(
    scale=st.sampled_from([0.05, 0.3, 1.0, 2.7, 7.0]),
    word_bits=st.sampled_from([20, 32, 64]),
    place=st.integers(0, 10**6),
    offset=st.sampled_from([-1, 0, 0, 0, 1]),
    nudge=st.sampled_from([-1, 0, 1]),
    last=st.integers(0, 2**64 - 1),
)
def test_every_step_agrees_with_the_oracle(scale, word_bits, place, offset, nudge, last):
    table = GeometricTable(scale, word_bits=word_bits, tail_bits=6)
    k = place % (2 * table.reach + 2) - table.reach - 1
    exact = threshold(scale, k)
    word = min(max(math.floor(exact * 2**word_bits) + offset, 0), 2**word_bits - 1)
    second = min(max(math.floor(exact * 2 ** (word_bits + 64)) % 2**64 + nudge, 0), 2**64 - 1)
    prefix, rest = divmod(word, 2 ** (word_bits - 16))
    u = Fraction(((word << 64 | second) << 64) | last, 2 ** (word_bits + 128))
    want = oracle(scale, u, table.reach)
    # Clear prefixes and words never ask for more, so the extra words then stay unused.
    got = draw(table, prefix, rest, [second, last])
    if abs(want) <= table.reach:
        assert got == want
    else:
        assert abs(got) > table.reach and (got > 0) == (want > 0)


def test_floors_are_those_of_four_hundred_digits():
    scale = 20.0
    exact = [threshold(scale, -j) for j in range(1, 300)]
    assert floors_below(scale, 299, 64) == [math.floor(t * 2**64) for t in exact]


def test_every_prefix_is_right():
    """What the guide says of a prefix holds for the first and the last number that begins with it."""
    table = GeometricTable(2.0)
    guide = table._guide
    values = list(range(-table.reach, table.reach + 1))
    thresholds = [threshold(2.0, k) for k in range(-table.reach - 1, table.reach + 1)]
    clear = np.flatnonzero(guide > -(2**15))
    for prefix in clear[:: max(1, len(clear) // 400)]:
        k = int(guide[prefix])
        low, high = thresholds[values.index(k)], thresholds[values.index(k) + 1]
        assert low <= Fraction(int(prefix), 2**16) and Fraction(int(prefix) + 1, 2**16) <= high
    assert table.unclear_share < 0.001


def test_tails_go_on_beyond_the_table():
    table = GeometricTable(1.0, word_bits=32, tail_bits=3)
    out = np.empty(20_000, np.int32)
    table.fill(secure(), out)
    assert out.max() > 2 * table.reach and out.min() < -2 * table.reach  # missed with chance below e^-40


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 32_768, 32_769])
def test_every_length_is_filled(count):
    out = table_geometric(secure(), (count,), 1000.0)
    assert out.shape == (count,) and np.abs(out).max(initial=0) < 100_000


def test_a_seed_repeats_and_a_table_is_kept():
    assert (table_geometric(seeded(3), (50, 7), 20.0) == table_geometric(seeded(3), (50, 7), 20.0)).all()
    assert table_for(20.0) is table_for(20.0)


def test_tiny_scales_draw_nothing_but_zero():
    assert not table_geometric(secure(), 10_000, 1e-300).any()


@pytest.mark.parametrize("scale", [0, -1.0, math.nan, math.inf, 1e6])
def test_impossible_scales_are_refused(scale):
    with pytest.raises(BadParameter):
        GeometricTable(scale)
