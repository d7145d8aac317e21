"""Compiled search for fragments that may stand side by side. Imports numba, so it is itself imported late."""

from __future__ import annotations

import math

import numpy as np

from textveil.attacks.fragments.join_kernel import keep_join
from textveil.text.compiled import compiled

PRIOR = 2.0  # words that the shorter history counts for


@compiled
def count_of(keys, counts, key):
    """The count of a key; 0 where it was never met."""
    place = np.searchsorted(keys, key)
    return counts[place] if place < len(keys) and keys[place] == key else 0.0


@compiled
def alone(ngrams, total, b):
    """How likely the word b is anywhere."""
    return (ngrams.words[b] + 0.5) / (total + 1.0)


@compiled
def after_one(ngrams, total, a, b):
    """How likely the word b is after the word a."""
    seen = count_of(ngrams.pairs, ngrams.pair_counts, a * ngrams.size + b)
    return (seen + PRIOR * alone(ngrams, total, b)) / (ngrams.words[a] + PRIOR)


@compiled
def after_two(ngrams, total, a, b, c):
    """How likely the word c is after the words a b."""
    pair = a * ngrams.size + b
    seen = count_of(ngrams.triples, ngrams.triple_counts, pair * ngrams.size + c)
    history = count_of(ngrams.pairs, ngrams.pair_counts, pair)
    return (seen + PRIOR * after_one(ngrams, total, b, c)) / (history + PRIOR)


@compiled
def first_bits(ngrams, total, words, begin, end, b):
    """How many times likelier, in bits, the word b is after the text words[begin:end] than anywhere."""
    a = words[end - 1]
    if end - begin > 1:
        return math.log2(after_two(ngrams, total, words[end - 2], a, b) / alone(ngrams, total, b))
    return math.log2(after_one(ngrams, total, a, b) / alone(ngrams, total, b))


@compiled
def second_bits(ngrams, total, a, words, begin, end):
    """How many times likelier the second word of a text is if the word a stands before the first."""
    if end - begin < 2:
        return 0.0
    b, c = words[begin], words[begin + 1]
    return math.log2(after_two(ngrams, total, a, b, c) / after_one(ngrams, total, b, c))


@compiled
def add_neighbours(words, starts, others, other_starts, ngrams, other_ngrams, order, begins, most, next_nodes, next_scores,
                   next_overlaps):  # fmt: skip
    """Add, for each text p, the texts q that may follow it at once, and keep the best of all.

    order[begins[b]:begins[b + 1]] are the texts that begin with the word b. Only pairs that some text has are looked at,
    and only where the own language says more than the choice among so many costs.
    """
    total, other_total = ngrams.words.sum(), other_ngrams.words.sum()
    for p in range(len(starts) - 1):
        x, x_end, t, t_end = starts[p], starts[p + 1], other_starts[p], other_starts[p + 1]
        if x == x_end or t == t_end:
            continue
        a = words[x_end - 1]
        low, high = np.searchsorted(ngrams.pairs, a * ngrams.size), np.searchsorted(ngrams.pairs, (a + 1) * ngrams.size)
        for place in range(low, high):
            b = ngrams.pairs[place] - a * ngrams.size
            count = begins[b + 1] - begins[b]
            if count == 0 or count > most:
                continue
            first = first_bits(ngrams, total, words, x, x_end, b) - math.log2(count)
            if first <= 0:
                continue
            for at in range(begins[b], begins[b + 1]):
                q = order[at]
                u, u_end = other_starts[q], other_starts[q + 1]
                if q == p or u == u_end:
                    continue
                own = first + second_bits(ngrams, total, a, words, starts[q], starts[q + 1])
                if own <= 0:
                    continue
                score = own + first_bits(other_ngrams, other_total, others, t, t_end, others[u])
                score += second_bits(other_ngrams, other_total, others[t_end - 1], others, u, u_end)
                keep_join(p, q, score, 0, next_nodes, next_scores, next_overlaps)
