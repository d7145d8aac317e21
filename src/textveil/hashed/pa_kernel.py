"""Compiled passes of the Passive-Aggressive trainer. Imports numba, so it is itself imported late.

The rule and its derivation stand in `passive_aggressive`; the slow version there gives the same numbers up to rounding.
"""

from __future__ import annotations

import numpy as np

from textveil.text.chain_kernel import emissions, path_score, viterbi
from textveil.text.compiled import compiled


@compiled
def _change(indices, starts, first, size, gold, path, present, allowed, delta, touched, steps):
    """Gather features of the truth minus features of the guess; returns how many weights changed and the squared norm."""
    count = 0
    for t in range(size):
        truth, guess = gold[first + t], path[t]
        if truth == guess:
            continue
        for j in range(starts[first + t], starts[first + t + 1]):
            slot = indices[j]
            for side in range(2):
                y = truth if side == 0 else guess
                if present[slot, y]:
                    if delta[slot, y] == 0:
                        touched[count, 0], touched[count, 1] = slot, y
                        count += 1
                    delta[slot, y] += 1 if side == 0 else -1
    for t in range(1, size):
        a, b = gold[first + t - 1], gold[first + t]
        if allowed[a, b]:
            steps[a, b] += 1
        a, b = path[t - 1], path[t]
        if allowed[a, b]:
            steps[a, b] -= 1
    norm = 0.0
    for a in range(steps.shape[0]):
        for b in range(steps.shape[0]):
            norm += steps[a, b] * steps[a, b]
    unique = 0  # a weight may be listed twice: it went back to 0 in between
    for k in range(count):
        slot, y = touched[k, 0], touched[k, 1]
        value = delta[slot, y]
        if value != 0:
            norm += value * value
            delta[slot, y] = 0
            touched[unique, 0], touched[unique, 1], touched[unique, 2] = slot, y, value
            unique += 1
    return unique, norm


@compiled
def train_pass(
    indices, starts, bounds, order, gold, model, sums, present, steps_model, steps_sums, allowed, delta, u, c
):
    """One pass over the sequences in the given order; returns (sum of costs, sequences that were wrong, next u)."""
    labels = model.shape[1]
    longest, widest = 1, 1
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
        widest = max(widest, starts[bounds[s + 1]] - starts[bounds[s]])
    scores, best = np.zeros((longest, labels)), np.zeros((longest, labels))
    back, path = np.zeros((longest, labels), np.int64), np.zeros(longest, np.int64)
    touched = np.zeros((1, 3), np.int64)
    steps = np.zeros((labels, labels), np.int64)
    loss, wrong = 0.0, 0
    for s in order:
        first, size = bounds[s], bounds[s + 1] - bounds[s]
        emissions(indices, starts, first, first + size, model, scores)
        guessed = viterbi(scores, size, steps_model, best, back, path)
        errors = 0
        for t in range(size):
            if path[t] != gold[first + t]:
                errors += 1
        if errors:
            need = 2 * (starts[first + size] - starts[first])
            if len(touched) < need:
                touched = np.zeros((2 * need, 3), np.int64)
            right = path_score(scores, size, steps_model, gold[first : first + size])
            cost = guessed - right + np.sqrt(errors)
            steps[:] = 0
            count, norm = _change(indices, starts, first, size, gold, path, present, allowed, delta, touched, steps)
            if norm > 0:
                tau = min(c, cost / norm)
                for k in range(count):
                    slot, y = touched[k, 0], touched[k, 1]
                    model[slot, y] += tau * touched[k, 2]
                    sums[slot, y] += tau * u * touched[k, 2]
                for a in range(labels):
                    for b in range(labels):
                        steps_model[a, b] += tau * steps[a, b]
                        steps_sums[a, b] += tau * u * steps[a, b]
            loss += cost
            wrong += 1
        u += 1
    return loss, wrong, u


@compiled
def note_presence(indices, starts, gold, present):
    for t in range(len(starts) - 1):
        for j in range(starts[t], starts[t + 1]):
            present[indices[j], gold[t]] = True


@compiled
def count_documents(indices, stamp, number, counts):
    """Add one document: each of its slots counts once, up to the largest uint16."""
    for j in range(len(indices)):
        slot = indices[j]
        if stamp[slot] != number:
            stamp[slot] = number
            if counts[slot] < 65535:
                counts[slot] += 1
