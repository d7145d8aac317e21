"""Compiled passes of the aligner: expectation, maximisation, best links. Imports numba, so it is itself imported late.

Model (Dyer, Chahuneau and Smith 2013, a reparameterised IBM Model 2). Word j of n is made by word i of the m words of
the other side, or by none of them:

    P(none) = P0          P(i | j, m, n) = (1 - P0) exp(-tension |i/m - j/n|) / Z          P(word j | word i) = lexicon

Along i the diagonal term is two geometric series that meet at j, so a row costs three exponentials, not m. Both
directions are done in one pass over a sentence pair, since they look up the same pairs of words.

The lexicon is one open-addressing table: `keys` (source word * 2^32 + target word + 1; 0 is free) and `values`, four
numbers a slot: P(target | source), P(source | target), and the expected counts of both. When the table is full, new
pairs of words have the chance FLOOR and are not learnt: memory stays as it is, whatever the size of the text.
"""

from __future__ import annotations

import math

import numpy as np

from textveil.text.compiled import compiled

P0 = 0.08
FLOOR = 1e-9
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
LOAD = 0.75


@compiled
def find_slot(keys, shift, key, may_insert, used):
    """The slot of a key, or -1; a new key takes a free slot while the table has room."""
    mask = len(keys) - 1
    slot = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(shift))
    while True:
        held = keys[slot]
        if held == key:
            return slot
        if held == 0:
            if may_insert and used[0] < LOAD * len(keys):
                keys[slot] = key
                used[0] += 1
                return slot
            return -1
        slot = (slot + 1) & mask


@compiled
def diagonal(row, size, centre, tension):
    """exp(-tension |i/size - centre|) for i = 1 .. size, normalised, into `row`."""
    left = min(int(centre * size), size)
    step = math.exp(-tension / size)
    total = 0.0
    if left > 0:
        value = math.exp(-tension * (centre - left / size))
        for i in range(left - 1, -1, -1):
            row[i] = value
            total += value
            value *= step
    if left < size:
        value = math.exp(-tension * ((left + 1) / size - centre))
        for i in range(left, size):
            row[i] = value
            total += value
            value *= step
    for i in range(size):
        row[i] /= total


@compiled
def slots_of(source, target, keys, shift, may_insert, used, slots):
    """The slots of all pairs of words of one sentence pair; equal unknown words have -2, other unknown ones -1."""
    n = len(target)
    for i in range(len(source)):
        for j in range(n):
            if source[i] < 0 or target[j] < 0:
                slots[i * n + j] = -2 if source[i] == target[j] else -1
            else:
                key = (np.int64(source[i]) << 32) + np.int64(target[j]) + 1
                slots[i * n + j] = find_slot(keys, shift, key, may_insert, used)


@compiled
def chance(values, slot, side):
    """The lexicon's chance in one direction; a word that only looks the same is taken for its own translation."""
    return values[slot, side] if slot >= 0 else (0.5 if slot == -2 else FLOOR)


@compiled
def expect_side(slots, m, n, values, side, nulls, words, tension, early, row, weights, feats):
    """Expected counts of one direction: each word of `words` is made by one of the other side, or by none.

    side 0: target words from source words; side 1: the other way round. feats: expected and model's feature, its
    variance, log likelihood. early: by how many places the expected feature counts a made word too early (0: not).
    """
    size, others = (n, m) if side == 0 else (m, n)
    for j in range(size):
        centre = (j + 1) / size
        diagonal(row, others, centre, tension)
        word = words[j]
        none = P0 * (nulls[word, 0] if word >= 0 else FLOOR)
        total = none
        for i in range(others):
            slot = slots[i * n + j] if side == 0 else slots[j * n + i]
            weights[i] = (1 - P0) * row[i] * chance(values, slot, side)
            total += weights[i]
        if word >= 0:
            nulls[word, 1] += none / total
        mean, square, mass = 0.0, 0.0, 0.0
        for i in range(others):
            share = weights[i] / total
            slot = slots[i * n + j] if side == 0 else slots[j * n + i]
            if slot >= 0:
                values[slot, 2 + side] += share
            feature = -abs((i + 1) / others - centre)
            feats[0] += share * (feature if early == 0 else -abs((i + 1) / others - centre + early / size))
            mean += row[i] * feature
            square += row[i] * feature * feature
            mass += share
        feats[1] += mass * mean
        feats[2] += mass * (square - mean * mean)
        feats[3] += math.log(total)


@compiled
def expectation(source, source_starts, target, target_starts, keys, shift, values, used, nulls_f, nulls_b, tensions, early,
                feats, longest, may_insert):  # fmt: skip
    """Add the expected counts of all sentence pairs, both directions; pairs with an empty or overlong side are skipped."""
    slots = np.empty(longest * longest, np.int64)
    row, weights = np.empty(longest), np.empty(longest)
    for pair in range(len(source_starts) - 1):
        a, b = source_starts[pair], source_starts[pair + 1]
        c, d = target_starts[pair], target_starts[pair + 1]
        m, n = b - a, d - c
        if m == 0 or n == 0 or m > longest or n > longest:
            continue
        slots_of(source[a:b], target[c:d], keys, shift, may_insert, used, slots)
        expect_side(slots, m, n, values, 0, nulls_f, target[c:d], tensions[0], early, row, weights, feats[0])
        expect_side(slots, m, n, values, 1, nulls_b, source[a:b], tensions[1], early, row, weights, feats[1])


@compiled
def exp_digamma(x):
    """exp(digamma(x)), x above 0."""
    shift = 0.0
    while x < 6.0:
        shift += 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    value = math.log(x) - 0.5 / x - inverse * (1 / 12 - inverse * (1 / 120 - inverse / 252))
    return math.exp(value - shift)


@compiled
def maximisation(keys, values, nulls_f, nulls_b, totals_source, totals_target, alpha):
    """Turn counts into chances, by variational Bayes with a sparse Dirichlet prior, and set them back to 0."""
    low = np.int64(0xFFFFFFFF)
    for slot in range(len(keys)):
        if keys[slot] != 0:
            totals_source[(keys[slot] - 1) >> 32] += values[slot, 2] + alpha
            totals_target[(keys[slot] - 1) & low] += values[slot, 3] + alpha
    for totals in (totals_source, totals_target):
        for word in range(len(totals)):
            totals[word] = exp_digamma(max(totals[word], alpha))
    for slot in range(len(keys)):
        if keys[slot] != 0:
            source, target = (keys[slot] - 1) >> 32, (keys[slot] - 1) & low
            values[slot, 0] = max(exp_digamma(values[slot, 2] + alpha) / totals_source[source], FLOOR)
            values[slot, 1] = max(exp_digamma(values[slot, 3] + alpha) / totals_target[target], FLOOR)
            values[slot, 2] = 0.0
            values[slot, 3] = 0.0
    for nulls in (nulls_f, nulls_b):
        total = exp_digamma(nulls[:, 1].sum() + alpha * len(nulls))
        for word in range(len(nulls)):
            nulls[word, 0] = max(exp_digamma(nulls[word, 1] + alpha) / total, FLOOR)
            nulls[word, 1] = 0.0


@compiled
def best_side(slots, m, n, values, side, nulls, words, tension, row, links):
    """The most likely maker of each word into `links`, -1 for none."""
    size, others = (n, m) if side == 0 else (m, n)
    for j in range(size):
        diagonal(row, others, (j + 1) / size, tension)
        word = words[j]
        best, who = P0 * (nulls[word, 0] if word >= 0 else FLOOR), -1
        for i in range(others):
            slot = slots[i * n + j] if side == 0 else slots[j * n + i]
            value = (1 - P0) * row[i] * chance(values, slot, side)
            if value > best:
                best, who = value, i
        links[j] = who


@compiled
def best_links(source, source_starts, target, target_starts, keys, shift, values, nulls_f, nulls_b, tensions, longest,
               forward, backward):  # fmt: skip
    """forward[target word] and backward[source word]: the place of its maker in the other sentence, or -1."""
    slots, row = np.empty(longest * longest, np.int64), np.empty(longest)
    used = np.zeros(1, np.int64)
    forward[:] = -1
    backward[:] = -1
    for pair in range(len(source_starts) - 1):
        a, b = source_starts[pair], source_starts[pair + 1]
        c, d = target_starts[pair], target_starts[pair + 1]
        m, n = b - a, d - c
        if m == 0 or n == 0 or m > longest or n > longest:
            continue
        slots_of(source[a:b], target[c:d], keys, shift, False, used, slots)
        best_side(slots, m, n, values, 0, nulls_f, target[c:d], tensions[0], row, forward[c:d])
        best_side(slots, m, n, values, 1, nulls_b, source[a:b], tensions[1], row, backward[a:b])
