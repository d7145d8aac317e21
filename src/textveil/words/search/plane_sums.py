"""The instructions behind `hamming_planes`: planes added up, compared with a bound, and the least of a tile found.

Written as vectors of 512 bits (256 without AVX-512) because a compiler does not find them by itself. A full adder turns three
planes into their parity and their majority: one vpternlog each on AVX-512, five logic instructions on AVX2.
"""

from __future__ import annotations

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from textveil.words.search.keep import broadcast

WIDE = bool(dict(llvmlite.binding.get_host_cpu_features()).get("avx512f"))
LANES = 8 if WIDE else 4
PATTERNS = 8  # three query bits choose one of these planes
MASKS = 16  # planes of a comparison: more than the bits of any distance up to 2^15
WAITING = 7  # planes loaded before adding: independent adders side by side, without running out of registers
PARITY, MAJORITY, AT_MOST = 0x96, 0xD4, 0xB2  # truth tables of vpternlog, see `full_adder` and `at_most`

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(I64, LANES)
WHOLE = ir.IntType(64 * LANES)


def places_of(adders: int) -> int:
    """Binary digits of a distance: those of the sum of the tabulated planes, and the parity below them."""
    return adders.bit_length() + 1


def slot_words(adders: int) -> int:
    """64-bit words that `screen` writes: the marks, then the digits, lowest first."""
    return (1 + places_of(adders)) * LANES


def ternary(b: ir.IRBuilder, truth: int, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
    """One instruction for any function of three bits; bit 4x + 2y + z of `truth` is its value."""
    kind = ir.FunctionType(VECTOR, [VECTOR] * 3 + [I32])
    function = cgutils.get_or_insert_function(b.module, kind, "llvm.x86.avx512.pternlog.q.512")
    return b.call(function, [x, y, z, I32(truth)])


def full_adder(b: ir.IRBuilder, x: ir.Value, y: ir.Value, z: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Parity and majority.

    vpternlog overwrites its first operand. So that no plane has to be copied first, the majority is taken of the parity,
    which stands in the place of x, and the other two: y where y = z, else x, which is then the opposite of the parity.
    """
    if WIDE:
        parity = ternary(b, PARITY, x, y, z)
        return parity, ternary(b, MAJORITY, y, z, parity)
    half = b.xor(x, y)
    return b.xor(half, z), b.or_(b.and_(x, y), b.and_(half, z))


def at_most(b: ir.IRBuilder, below: ir.Value, digit: ir.Value, mask: ir.Value) -> ir.Value:
    """Comparison, one place further up: the bound's digit where the two differ, else what was found below."""
    if WIDE:
        return ternary(b, AT_MOST, below, digit, mask)
    return b.or_(b.and_(b.not_(digit), b.or_(below, mask)), b.and_(below, mask))


def any_bit(b: ir.IRBuilder, plane: ir.Value) -> ir.Value:
    return b.icmp_unsigned("!=", b.bitcast(plane, WHOLE), WHOLE(0))


class Adder:
    """Emits the sum of planes: `add` one by one, `planes` gives the binary digits of the sum, lowest first."""

    def __init__(self, builder: ir.IRBuilder):
        self.builder, self.weights = builder, [[] for _ in range(MASKS)]

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
        zero = ir.Constant(VECTOR, [0] * LANES)
        return [waiting[0] if waiting else zero for waiting in self.weights[:count]]

    def _reduce(self) -> None:
        for weight, waiting in enumerate(self.weights[:-1]):
            while len(waiting) >= 3:
                self._full(weight)

    def _full(self, weight: int) -> None:
        """Three planes of one weight become one of it and one of the next."""
        parity, majority = full_adder(self.builder, *self.weights[weight][:3])
        del self.weights[weight][:3]
        self.weights[weight].append(parity)
        self.weights[weight + 1].append(majority)


def emit_screen(b: ir.IRBuilder, table, patterns, masks, slot, adders: int) -> ir.Value:
    """Code of `screen`: tabulated planes in, sum, comparison, marks and digits out."""
    table, slot = b.bitcast(table, I8.as_pointer()), b.bitcast(slot, VECTOR.as_pointer())
    row = PATTERNS * LANES * 8  # bytes of one adder's planes

    def tabulated(adder: int) -> ir.Value:
        offset = b.mul(b.zext(b.load(b.gep(patterns, [I64(adder)])), I64), I64(LANES // 4))
        place = b.gep(b.gep(table, [I64(adder * row)]), [offset])
        return b.load(b.bitcast(place, VECTOR.as_pointer()), align=8)

    total = Adder(b)
    for adder in range(adders):
        total.add(tabulated(adder))
    within = ir.Constant(VECTOR, [-1] * LANES)
    digits = [tabulated(adders), *total.planes(places_of(adders) - 1)]
    for place, digit in enumerate(digits):
        within = at_most(b, within, digit, broadcast(b, b.load(b.gep(masks, [I64(place)])), VECTOR))
        b.store(digit, b.gep(slot, [I64(1 + place)]), align=8)
    b.store(within, slot, align=8)
    return b.zext(any_bit(b, within), I64)


def emit_least(b: ir.IRBuilder, slot, places: int) -> ir.Value:
    """Code of `least`: from the highest digit down, drop the words with a one if any has a zero."""
    slot = b.bitcast(slot, VECTOR.as_pointer())
    left, distance = b.load(slot, align=8), I64(0)
    ones = ir.Constant(VECTOR, [-1] * LANES)
    for place in reversed(range(places)):
        lower = b.and_(left, b.xor(b.load(b.gep(slot, [I64(1 + place)]), align=8), ones))
        none = b.sub(b.zext(any_bit(b, lower), I64), I64(1))  # all ones if so; a select would become a branch
        left = b.or_(lower, b.and_(left, broadcast(b, none, VECTOR)))
        distance = b.or_(distance, b.and_(none, I64(1 << place)))
    b.store(left, slot, align=8)
    return distance


@intrinsic(prefer_literal=True)
def screen(typing_context, table, patterns, masks, slot, adders):
    """Writes the words of a tile within the bound, and all distances digit by digit; returns whether any is within."""
    if not isinstance(adders, types.IntegerLiteral):
        return None
    count = adders.literal_value

    def generate(context, builder, signature, arguments):
        return emit_screen(builder, *arguments[:4], count)

    return types.int64(table, patterns, masks, slot, adders), generate


@intrinsic(prefer_literal=True)
def least(typing_context, slot, adders):
    """Of the marked words of a slot (at least one), leaves those of least distance marked, and returns that distance."""
    if not isinstance(adders, types.IntegerLiteral):
        return None
    places = places_of(adders.literal_value)

    def generate(context, builder, signature, arguments):
        return emit_least(builder, arguments[0], places)

    return types.int64(slot, adders), generate
