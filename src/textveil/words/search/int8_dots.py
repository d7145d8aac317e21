"""The block product behind `euclid_int8`: integers of four queries times those of sixteen words, compared with limits.

Written as instructions because a compiler does not find them by itself: vpmaddubsw multiplies 32 pairs of bytes (unsigned
words, signed queries) and adds neighbours into 16 bits; AVX512-VNNI has vpdpbusd, 64 pairs into 32 bits. Memory of a block:
per step of four coordinates, sixteen words after each other; of the queries, per step, four queries after each other.
"""

from __future__ import annotations

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from textveil.words.search.keep import broadcast

FEATURES = dict(llvmlite.binding.get_host_cpu_features())
WIDE = bool(FEATURES.get("avx512vnni") and FEATURES.get("avx512bw"))
NARROW = bool(FEATURES.get("avx2"))
QUERIES, WORDS, STEP = 4, 16, 4  # of one block product: queries, words, coordinates a step
FUSED = ("contract",)  # a product and a sum may share one rounding: it errs less

I8, I16, I32, I64, F32 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()


def emit_dots(b: ir.IRBuilder, words, queries, starts, steps) -> list[list[ir.Value]]:
    """X.Y of each query with each vector of words, as float32."""
    lanes = 16 if WIDE else 8
    vectors = WORDS // lanes
    byte, half, full = ir.VectorType(I8, 4 * lanes), ir.VectorType(I16, 2 * lanes), ir.VectorType(I32, lanes)
    held = full if WIDE else half
    sums = [[cgutils.alloca_once(b, held) for _ in range(vectors)] for _ in range(QUERIES)]
    for q, row in enumerate(sums):
        start = b.bitcast(broadcast(b, b.load(b.gep(starts, [I64(q)])), full), held)
        for place in row:
            b.store(start, place)
    words = b.bitcast(words, byte.as_pointer())
    queries = b.bitcast(queries, I32.as_pointer())
    with cgutils.for_range(b, steps, intp=I64) as loop:
        row_of_words, row_of_queries = b.mul(loop.index, I64(vectors)), b.mul(loop.index, I64(QUERIES))
        loaded = [b.load(b.gep(words, [b.add(row_of_words, I64(w))]), align=1) for w in range(vectors)]
        for q in range(QUERIES):
            four = broadcast(b, b.load(b.gep(queries, [b.add(row_of_queries, I64(q))]), align=1), full)
            for w in range(vectors):
                b.store(multiply_add(b, b.load(sums[q][w]), loaded[w], four, byte, half, full), sums[q][w])
    floats = ir.VectorType(F32, lanes)
    return [[b.sitofp(whole(b, b.load(place), half, full), floats) for place in row] for row in sums]


def multiply_add(b: ir.IRBuilder, total, words, four, byte, half, full) -> ir.Value:
    """total + products of four coordinates."""
    if WIDE:
        name, kind = "llvm.x86.avx512.vpdpbusd.512", ir.FunctionType(full, [full] * 3)
        return b.call(cgutils.get_or_insert_function(b.module, kind, name), [total, b.bitcast(words, full), four])
    name, kind = "llvm.x86.avx2.pmadd.ub.sw", ir.FunctionType(half, [byte] * 2)
    return b.add(total, b.call(cgutils.get_or_insert_function(b.module, kind, name), [words, b.bitcast(four, byte)]))


def whole(b: ir.IRBuilder, total, half, full) -> ir.Value:
    """Both 16-bit lanes of a word added up in 32 bits."""
    if WIDE:
        return total
    name, kind = "llvm.x86.avx2.pmadd.wd", ir.FunctionType(full, [half] * 2)
    ones = ir.Constant(half, [1] * half.count)
    return b.call(cgutils.get_or_insert_function(b.module, kind, name), [total, ones])


def emit_screen(
    b: ir.IRBuilder, words, queries, starts, steps, unit_of_word, floor, unit_of_query, limit, lows
) -> ir.Value:
    """64 bits, of query q and word w at 16 q + w: set unless bound (1) exceeds the limit of the query."""
    dots = emit_dots(b, words, queries, starts, steps)
    vectors, lanes = len(dots[0]), WORDS // len(dots[0])
    floats = ir.VectorType(F32, lanes)
    units, floors = (
        [b.load(b.bitcast(b.gep(array, [I64(w * lanes)]), floats.as_pointer()), align=4) for w in range(vectors)]
        for array in (unit_of_word, floor)
    )
    bounds, limits = [], []
    for q, row in enumerate(dots):
        scale = broadcast(b, b.load(b.gep(unit_of_query, [I64(q)])), floats)
        limits.append(broadcast(b, b.load(b.gep(limit, [I64(q)])), floats))
        bounds.append(
            [
                b.fsub(floors[w], b.fmul(dot, b.fmul(scale, units[w]), flags=FUSED), flags=FUSED)
                for w, dot in enumerate(row)
            ]
        )
    return emit_bits(b, bounds, limits, b.bitcast(lows, floats.as_pointer()))


def emit_bits(b: ir.IRBuilder, bounds: list[list[ir.Value]], limits: list[ir.Value], lows) -> ir.Value:
    """The comparisons as one word, and the bounds stored; but usually none holds, and one test of all together says so."""
    lanes = limits[0].type.count
    narrow, mask, wide = ir.IntType(lanes), ir.VectorType(I32, lanes), ir.IntType(32 * lanes)
    result = cgutils.alloca_once(b, I64)
    b.store(I64(0), result)
    together = ir.Constant(mask, [0] * lanes)
    for row, most in zip(bounds, limits, strict=True):
        least = row[0]
        for bound in row[1:]:
            least = b.select(b.fcmp_ordered("<", bound, least), bound, least)
        together = b.or_(together, b.sext(b.fcmp_ordered("<=", least, most), mask))
    with b.if_then(b.icmp_unsigned("!=", b.bitcast(together, wide), wide(0)), likely=False):
        bits, place = I64(0), 0
        for row, most in zip(bounds, limits, strict=True):
            for bound in row:
                kept = b.zext(b.bitcast(b.fcmp_ordered("<=", bound, most), narrow), I64)
                bits = b.or_(bits, b.shl(kept, I64(lanes * place)))
                b.store(bound, b.gep(lows, [I64(place)]), align=4)
                place += 1
        b.store(bits, result)
    return b.load(result)


@intrinsic
def screen(typing_context, words, queries, starts, steps, unit_of_word, floor, unit_of_query, limit, lows):
    """Which of sixteen words may matter to which of four queries, and (if any does) all their bounds in `lows`."""
    pointers = (words, queries, starts, types.intp, unit_of_word, floor, unit_of_query, limit, lows)

    def generate(context, builder, signature, arguments):
        return emit_screen(builder, *arguments)

    return types.uint64(*pointers), generate
