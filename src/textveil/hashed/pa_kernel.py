"""Compiled passes of the Passive-Aggressive trainer and of decoding. Imports numba, so it is itself imported late.

The rule and its derivation stand in `passive_aggressive`; the slow version there gives the same numbers up to rounding.
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
