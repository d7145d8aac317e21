"""The passes of the CRF, compiled. Imports numba, so it is itself imported late. The rule stands in `crf`."""

from __future__ import annotations

import numpy as np

from textveil.text.chain_kernel import viterbi
from textveil.text.compiled import compiled


@compiled
def _scores_of(rows, a, b, weights, out):
    for t in range(b - a):
        for y in range(weights.shape[1]):
            out[t, y] = 0.0
        for j in range(rows.shape[1]):
            slot = rows[a + t, j]
            for y in range(weights.shape[1]):
                out[t, y] += weights[slot, y]


@compiled
def _log_sum(values, size):
    top = values[0]
    for k in range(1, size):
        top = max(top, values[k])
    total = 0.0
    for k in range(size):
        total += np.exp(values[k] - top)
    return top + np.log(total)


@compiled
def _sums(scores, size, steps, first, ahead, behind, line):
    """Forward and backward sums in logarithms; returns log Z."""
    labels = steps.shape[0]
    for y in range(labels):
        ahead[0, y] = scores[0, y] + first[y]
        behind[size - 1, y] = 0.0
    for t in range(1, size):
        for y in range(labels):
            for x in range(labels):
                line[x] = ahead[t - 1, x] + steps[x, y]
            ahead[t, y] = scores[t, y] + _log_sum(line, labels)
    for t in range(size - 2, -1, -1):
        for x in range(labels):
            for y in range(labels):
                line[y] = steps[x, y] + scores[t + 1, y] + behind[t + 1, y]
            behind[t, x] = _log_sum(line, labels)
    for y in range(labels):
        line[y] = ahead[size - 1, y]
    return _log_sum(line, labels)


@compiled
def _add_steps(scores, size, steps, ahead, behind, total, sign, counts):
    labels = steps.shape[0]
    for t in range(1, size):
        for x in range(labels):
            for y in range(labels):
                counts[x, y] += sign * np.exp(ahead[t - 1, x] + steps[x, y] + scores[t, y] + behind[t, y] - total)


@compiled
def train_pass(rows, bounds, order, tags, trust, weights, grown, steps, steps_grown, first, legal, rate):
    """One pass of AdaGrad over the chains."""
    labels, width = weights.shape[1], rows.shape[1]
    longest = 1
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    scores, seen = np.zeros((longest, labels)), np.zeros((longest, labels))
    ahead, behind = np.zeros((longest, labels)), np.zeros((longest, labels))
    held = np.zeros((longest, labels))
    line, counts = np.zeros(labels), np.zeros((labels, labels))
    for s in order:
        a, b = bounds[s], bounds[s + 1]
        size = b - a
        if size == 0:
            continue
        _scores_of(rows, a, b, weights, scores)
        counts[:] = 0.0
        for t in range(size):
            other = np.log((1.0 - trust[a + t]) / max(1, labels - 1) + 1e-12)
            for y in range(labels):
                seen[t, y] = scores[t, y] + (np.log(trust[a + t]) if y == tags[a + t] else other)
        total = _sums(seen, size, steps, first, ahead, behind, line)
        for t in range(size):
            for y in range(labels):
                held[t, y] = np.exp(ahead[t, y] + behind[t, y] - total)
        _add_steps(seen, size, steps, ahead, behind, total, 1.0, counts)
        total = _sums(scores, size, steps, first, ahead, behind, line)
        _add_steps(scores, size, steps, ahead, behind, total, -1.0, counts)
        for t in range(size):
            for y in range(labels):
                held[t, y] -= np.exp(ahead[t, y] + behind[t, y] - total)
        for t in range(size):
            for j in range(width):
                slot, times, is_first = rows[a + t, j], 0, True
                for k in range(width):
                    if rows[a + t, k] == slot:
                        times += 1
                        if k < j:
                            is_first = False
                if not is_first:
                    continue
                for y in range(labels):
                    change = times * held[t, y]
                    if abs(change) > 1e-7:
                        grown[slot, y] += change * change
                        weights[slot, y] += rate * change / np.sqrt(grown[slot, y])
        for x in range(labels):
            for y in range(labels):
                if legal[x, y]:
                    steps_grown[x, y] += counts[x, y] * counts[x, y]
                    steps[x, y] += rate * counts[x, y] / np.sqrt(steps_grown[x, y])


@compiled
def read_all(rows, bounds, weights, steps, first, temperature):
    """Best tags and chances of all tokens."""
    labels, longest = weights.shape[1], 1
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    scores, ahead, behind = np.zeros((longest, labels)), np.zeros((longest, labels)), np.zeros((longest, labels))
    best, back, path = np.zeros((longest, labels)), np.zeros((longest, labels), np.int64), np.zeros(longest, np.int64)
    line, cool_steps, cool_first = np.zeros(labels), steps / temperature, first / temperature
    chosen, chances = np.zeros(len(rows), np.int64), np.zeros((len(rows), labels))
    for s in range(len(bounds) - 1):
        a, b = bounds[s], bounds[s + 1]
        size = b - a
        if size == 0:
            continue
        _scores_of(rows, a, b, weights, scores)
        for y in range(labels):
            scores[0, y] += first[y]
        viterbi(scores, size, steps, best, back, path)
        for t in range(size):
            chosen[a + t] = path[t]
            for y in range(labels):
                if t == 0:
                    scores[0, y] -= first[y]
                scores[t, y] /= temperature
        total = _sums(scores, size, cool_steps, cool_first, ahead, behind, line)
        for t in range(size):
            for y in range(labels):
                chances[a + t, y] = np.exp(ahead[t, y] + behind[t, y] - total)
    return chosen, chances
