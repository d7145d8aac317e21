"""Compiled features: MurmurHash3 (x86, 32 bits, seed 0) of words and pairs. Imports numba, so it is itself imported late.

A pair belongs to two tokens and is hashed once. The order of a row is that of `features.feature_keys`.
"""

from __future__ import annotations

import numpy as np

from textveil.text.compiled import compiled

WORD, CLUSTER, BIGRAM, SKIP = 0, 1, 2, 3  # places in plan.FAMILIES
REACH = 5
_BAR = np.uint8(ord("|"))
_LETTERS = np.frombuffer(b"wcbs", np.uint8)


@compiled
def murmur3(data, size):
    """MurmurHash3_x86_32 of data[:size] with seed 0."""
    c1, c2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
    h = np.uint32(0)
    blocks = size // 4
    for b in range(blocks):
        k = (
            np.uint32(data[4 * b])
            | (np.uint32(data[4 * b + 1]) << np.uint32(8))
            | (np.uint32(data[4 * b + 2]) << np.uint32(16))
            | (np.uint32(data[4 * b + 3]) << np.uint32(24))
        )
        k = np.uint32(k * c1)
        k = np.uint32((k << np.uint32(15)) | (k >> np.uint32(17)))
        h ^= np.uint32(k * c2)
        h = np.uint32((h << np.uint32(13)) | (h >> np.uint32(19)))
        h = np.uint32(h * np.uint32(5) + np.uint32(0xE6546B64))
    k = np.uint32(0)
    for t in range(size - 1, 4 * blocks - 1, -1):
        k = np.uint32((k << np.uint32(8)) | np.uint32(data[t]))
    if size % 4:
        k = np.uint32(k * c1)
        k = np.uint32((k << np.uint32(15)) | (k >> np.uint32(17)))
        h ^= np.uint32(k * c2)
    h ^= np.uint32(size)
    h ^= h >> np.uint32(16)
    h = np.uint32(h * np.uint32(0x85EBCA6B))
    h ^= h >> np.uint32(13)
    h = np.uint32(h * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ (h >> np.uint32(16)))


@compiled
def _append(buffer, at, text, begin, end):
    for j in range(begin, end):
        buffer[at + j - begin] = text[j]
    return at + end - begin


@compiled
def _append_number(buffer, at, number):
    digits = 1
    while number >= 10**digits:
        digits += 1
    for d in range(digits):
        buffer[at + digits - 1 - d] = np.uint8(48 + number % 10)
        number //= 10
    return at + digits


@compiled
def word_bounds(text, count):
    """Where each of `count` words begins and ends in bytes that a newline divides."""
    begins, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)
    word = 0
    for j in range(len(text)):
        if text[j] == 10:
            ends[word] = j
            word += 1
            begins[word] = j + 1
    if count:
        ends[word] = len(text)
    return begins, ends


@compiled
def _pair_slots(text, begins, ends, sentences, chosen, mask, buffer):
    """pairs[i, k]: the slot of the pair of token i and token i + k + 1, valid inside a sentence."""
    pairs = np.zeros((len(begins), REACH), np.uint32)
    buffer[1] = _BAR
    for s in range(len(sentences) - 1):
        last = sentences[s + 1]
        for i in range(sentences[s], last):
            at = _append(buffer, 2, text, begins[i], ends[i])
            buffer[at] = _BAR
            for k in range(min(REACH, last - i - 1)):
                family = BIGRAM if k == 0 else SKIP
                if chosen[family]:
                    buffer[0] = _LETTERS[family]
                    size = _append(buffer, at + 1, text, begins[i + k + 1], ends[i + k + 1])
                    pairs[i, k] = murmur3(buffer, size) & mask
    return pairs


@compiled
def _add(indices, first, at, slot):
    """Append a slot to the row that began at `first`, unless it holds it already."""
    for j in range(first, at):
        if indices[j] == slot:
            return at
    indices[at] = slot
    return at + 1


@compiled
def rows_of(text, count, clusters, sentences, chosen, mask):
    """(indices, starts) of `count` words given as bytes that a newline divides."""
    begins, ends = word_bounds(text, count)
    longest = 0
    for i in range(count):
        longest = max(longest, ends[i] - begins[i])
    buffer = np.zeros(2 * longest + 16, np.uint8)
    pairs = _pair_slots(text, begins, ends, sentences, chosen, mask, buffer)
    indices = np.empty(count * (2 + 2 * REACH), np.uint32)
    starts = np.zeros(count + 1, np.int64)
    at = 0
    for s in range(len(sentences) - 1):
        opened, last = sentences[s], sentences[s + 1]
        for i in range(opened, last):
            first = at
            if chosen[WORD]:
                buffer[0] = _LETTERS[WORD]
                at = _add(indices, first, at, murmur3(buffer, _append(buffer, 2, text, begins[i], ends[i])) & mask)
            if chosen[CLUSTER] and clusters[i] >= 0:
                buffer[0] = _LETTERS[CLUSTER]
                at = _add(indices, first, at, murmur3(buffer, _append_number(buffer, 2, clusters[i])) & mask)
            for k in range(REACH):
                if not chosen[BIGRAM if k == 0 else SKIP]:
                    continue
                if i - k - 1 >= opened:
                    at = _add(indices, first, at, pairs[i - k - 1, k])
                if i + k + 1 < last:
                    at = _add(indices, first, at, pairs[i, k])
            starts[i + 1] = at
    return indices[:at].copy(), starts
