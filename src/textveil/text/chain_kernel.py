"""Compiled chains of labels: scores of tokens, the best path, scores through each label.

Imports numba, so it is itself imported late. The slow versions in `chain` give the same numbers up to rounding.
"""

from __future__ import annotations

import numpy as np

from textveil.text.compiled import compiled


@compiled
def emissions(indices, starts, first, last, weights, out):
    """out[t, y]: the sum of the weights of token first + t for label y."""
    labels = weights.shape[1]
    for t in range(last - first):
        for y in range(labels):
            out[t, y] = 0.0
        for j in range(starts[first + t], starts[first + t + 1]):
            slot = indices[j]
            for y in range(labels):
                out[t, y] += weights[slot, y]


@compiled
def viterbi(scores, size, transitions, best, back, path):
    """The best path of a chain into `path`, the first label where two are equal; returns its score."""
    labels = transitions.shape[0]
    for y in range(labels):
        best[0, y] = scores[0, y]
    for t in range(1, size):
        for y in range(labels):
            top, who = best[t - 1, 0] + transitions[0, y], 0
            for x in range(1, labels):
                value = best[t - 1, x] + transitions[x, y]
                if value > top:
                    top, who = value, x
            best[t, y] = top + scores[t, y]
            back[t, y] = who
    who = 0
    for y in range(1, labels):
        if best[size - 1, y] > best[size - 1, who]:
            who = y
    total = best[size - 1, who]
    path[size - 1] = who
    for t in range(size - 1, 0, -1):
        who = back[t, who]
        path[t - 1] = who
    return total


@compiled
def path_score(scores, size, transitions, path):
    total = scores[0, path[0]]
    for t in range(1, size):
        total += transitions[path[t - 1], path[t]] + scores[t, path[t]]
    return total


@compiled
def decode_all(indices, starts, bounds, weights, transitions):
    """(best label, score matrix) of all tokens; scores[t, y] is the best path's score through label y at t, less the
    best path's of the sequence: 0 for the chosen label, negative for the others."""
    labels = weights.shape[1]
    total = len(starts) - 1
    longest = 1
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    scores, best, after = np.zeros((longest, labels)), np.zeros((longest, labels)), np.zeros((longest, labels))
    back, path = np.zeros((longest, labels), np.int64), np.zeros(longest, np.int64)
    chosen, through = np.zeros(total, np.uint8), np.zeros((total, labels), np.float32)
    for s in range(len(bounds) - 1):
        first, size = bounds[s], bounds[s + 1] - bounds[s]
        if size == 0:
            continue
        emissions(indices, starts, first, first + size, weights, scores)
        top = viterbi(scores, size, transitions, best, back, path)
        for y in range(labels):
            after[size - 1, y] = 0.0
        for t in range(size - 2, -1, -1):
            for x in range(labels):
                value = transitions[x, 0] + scores[t + 1, 0] + after[t + 1, 0]
                for y in range(1, labels):
                    value = max(value, transitions[x, y] + scores[t + 1, y] + after[t + 1, y])
                after[t, x] = value
        for t in range(size):
            chosen[first + t] = path[t]
            for y in range(labels):
                through[first + t, y] = best[t, y] + after[t, y] - top
    return chosen, through
