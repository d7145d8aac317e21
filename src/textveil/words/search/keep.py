"""Compiled bookkeeping of the scans: who is nearest so far. Imports numba, so it is itself imported late.

The scans call `keep` for the few words that may matter. Two modes share the arrays:

    nearest   distance[i, 0] is the least distance, found[i, :] the first words seen there, count[i] how many there are
    ranked    the k best by (distance, key), sorted; the key of a word is its index or its random priority
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from textveil.text.compiled import compiled
from textveil.words.search.ties import GOLDEN, MIX_1, MIX_2


@intrinsic
def address(typing_context, array, offset):
    """Pointer to element `offset` of a contiguous array."""
    signature = types.CPointer(array.dtype)(array, types.intp)

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return signature, generate


@intrinsic
def popcount(typing_context, word):
    """Number of bits set in a 64-bit word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def broadcast(builder: ir.IRBuilder, scalar: ir.Value, vector: ir.VectorType) -> ir.Value:
    """All lanes of `vector` set to `scalar`."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    single = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, nothing, first)


@compiled
def priority_of(word, index):
    """`ties.priority` of one word."""
    x = word + (np.uint64(index) + np.uint64(1)) * GOLDEN
    x = (x ^ (x >> np.uint64(30))) * MIX_1
    x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))


@compiled
def keep_nearest(i, j, d, distance, found, count):
    if d < distance[i, 0]:
        distance[i, 0] = d
        found[i, 0] = j
        count[i] = 1
    elif d == distance[i, 0]:
        if count[i] < found.shape[1]:
            found[i, count[i]] = j
        count[i] += 1


@compiled
def keep_ranked(i, j, d, key, distance, found, keys):
    place = found.shape[1]
    while place > 0 and (d < distance[i, place - 1] or (d == distance[i, place - 1] and key < keys[i, place - 1])):
        place -= 1
    if place == found.shape[1]:
        return
    for slot in range(found.shape[1] - 1, place, -1):
        distance[i, slot] = distance[i, slot - 1]
        found[i, slot] = found[i, slot - 1]
        keys[i, slot] = keys[i, slot - 1]
    distance[i, place] = d
    found[i, place] = j
    keys[i, place] = key


@compiled
def keep_least(d, least):
    """Insert d into the sorted array `least`, dropping its last value."""
    place = least.shape[0] - 1
    if not d < least[place]:
        return
    while place > 0 and d < least[place - 1]:
        least[place] = least[place - 1]
        place -= 1
    least[place] = d


@compiled
def keep(i, j, d, distance, found, count, keys, words):
    """Note word j at distance d of query i; returns the distance beyond which words no longer matter.

    `keys` has no columns in the mode `nearest`; `words` is empty where ties go by index.
    """
    if keys.shape[1] == 0:
        keep_nearest(i, j, d, distance, found, count)
        return distance[i, 0]
    key = np.uint64(j) if words.shape[0] == 0 else priority_of(words[i], j)
    keep_ranked(i, j, d, key, distance, found, keys)
    return distance[i, distance.shape[1] - 1]
