"""Compiled search for joins of fragments. Imports numba, so it is itself imported late."""

from __future__ import annotations

import math

import numpy as np

from textveil.text.compiled import compiled


@compiled
def common_block(first, second, info):
    """The most informative run of words that two target sides share, in bits."""
    best = 0.0
    for i in range(len(first)):
        for j in range(len(second)):
            total, k = 0.0, 0
            while i + k < len(first) and j + k < len(second) and first[i + k] == second[j + k]:
                total += info[first[i + k]]
                k += 1
            best = max(best, total)
    return best


@compiled
def keep_join(p, q, score, overlap, next_nodes, next_scores, next_overlaps):
    """Put q among the best followers of p, if it is one of them; the best comes first."""
    worst = next_scores.shape[1] - 1
    if score <= next_scores[p, worst]:
        return
    while worst > 0 and next_scores[p, worst - 1] < score:
        next_scores[p, worst] = next_scores[p, worst - 1]
        next_nodes[p, worst] = next_nodes[p, worst - 1]
        next_overlaps[p, worst] = next_overlaps[p, worst - 1]
        worst -= 1
    next_scores[p, worst], next_nodes[p, worst], next_overlaps[p, worst] = score, q, overlap


@compiled
def best_joins(words, starts, others, other_starts, info, other_info, order, low, high, overlap, witness, most,
               next_nodes, next_scores, next_overlaps):  # fmt: skip
    """Add, for each fragment, the joins whose overlap has `overlap` words, and keep the best of all.

    order[low[p]:high[p]] are the fragments that begin with the last `overlap` words of p. The score, in bits: what the
    overlap says, what the shared run of the other language says (if `witness`), less the choice among so many.
    """
    for p in range(len(starts) - 1):
        a, b = starts[p], starts[p + 1]
        count = high[p] - low[p]
        if b - a <= overlap or count == 0 or count > most:
            continue
        bits = 0.0
        for i in range(b - overlap, b):
            bits += info[words[i]]
        for place in range(low[p], high[p]):
            q = order[place]
            c = starts[q]
            same = q != p
            for i in range(overlap):
                same = same and words[b - overlap + i] == words[c + i]
            if not same:
                continue
            score = bits - math.log2(count)
            if witness:
                score += common_block(others[other_starts[p] : other_starts[p + 1]],
                                      others[other_starts[q] : other_starts[q + 1]], other_info)  # fmt: skip
            keep_join(p, q, score, overlap, next_nodes, next_scores, next_overlaps)


@compiled
def link_greedily(first, second, overlaps, size, following, shared, before):
    """Accept joins in the order given, while the first has no follower, the second none before it, and no ring arises."""
    root = np.arange(size)
    for k in range(len(first)):
        p, q = first[k], second[k]
        if following[p] >= 0 or before[q] >= 0:
            continue
        a = p
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        b = q
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a == b:
            continue
        root[b] = a
        following[p], before[q], shared[p] = q, p, overlaps[k]


@compiled
def gram_hashes(words, starts, size, out):
    """A 64-bit number of each run of `size` words inside of a text, 0 where a word is unknown; returns how many."""
    count = 0
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1] - size + 1):
            value, known = np.uint64(1469598103934665603), True
            for j in range(i, i + size):
                known = known and words[j] >= 0
                value = (value ^ np.uint64(words[j] + 1)) * np.uint64(0x9E3779B97F4A7C15)
                value ^= value >> np.uint64(29)
            out[count] = value if known else np.uint64(0)
            count += 1
    return count
