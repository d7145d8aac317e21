"""The passes of the CRF in numpy, chain by chain: what runs without numba, and the oracle of the compiled ones."""

from __future__ import annotations

import numpy as np

from textveil.text.chain import slow_viterbi


def forward_backward(scores: np.ndarray, steps: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Chances of tags, expected counts of steps, and log Z of one chain."""
    size = len(scores)
    ahead, behind = np.zeros(scores.shape), np.zeros(scores.shape)
    ahead[0] = scores[0] + first
    for t in range(1, size):
        ahead[t] = scores[t] + _log_sum(ahead[t - 1][:, None] + steps, 0)
    for t in range(size - 2, -1, -1):
        behind[t] = _log_sum(steps + (scores[t + 1] + behind[t + 1])[None, :], 1)
    total = float(_log_sum(ahead[-1], 0))
    counts = np.zeros(steps.shape)
    for t in range(1, size):
        counts += np.exp(ahead[t - 1][:, None] + steps + (scores[t] + behind[t])[None, :] - total)
    return np.exp(ahead + behind - total), counts, total


def _log_sum(values: np.ndarray, axis: int) -> np.ndarray:
    top = values.max(axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.exp(values - top).sum(axis=axis))


def train_pass(rows, bounds, order, tags, trust, weights, grown, steps, steps_grown, first, legal, rate):  # type: ignore[no-untyped-def]
    """One pass of AdaGrad over the chains."""
    labels = weights.shape[1]
    for s in order:
        a, b = int(bounds[s]), int(bounds[s + 1])
        if a == b:
            continue
        scores = weights[rows[a:b]].sum(axis=1).astype(np.float64)
        free, free_steps, _ = forward_backward(scores, steps, first)
        seen = np.repeat(np.log((1 - trust[a:b, None]) / max(1, labels - 1) + 1e-12), labels, axis=1)
        seen[np.arange(b - a), tags[a:b]] = np.log(trust[a:b])
        held, held_steps, _ = forward_backward(scores + seen, steps, first)
        slope = held - free
        for t in range(b - a):
            slots, counts = np.unique(rows[a + t], return_counts=True)
            change = counts[:, None] * slope[t][None, :]
            grown[slots] += (change**2).astype(np.float32)
            weights[slots] += (rate * change / np.sqrt(grown[slots])).astype(np.float32)
        change = np.where(legal, held_steps - free_steps, 0.0)
        steps_grown += change**2
        steps += np.where(legal, rate * change / np.sqrt(steps_grown), 0.0)


def read_all(rows, bounds, weights, steps, first, temperature):  # type: ignore[no-untyped-def]
    """Best tags and chances of all tokens."""
    chosen, chances = np.zeros(len(rows), np.int64), np.zeros((len(rows), weights.shape[1]))
    for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if a == b:
            continue
        scores = weights[rows[a:b]].sum(axis=1).astype(np.float64)
        start = scores.copy()
        start[0] += first
        chosen[a:b] = slow_viterbi(start, steps)
        chances[a:b] = forward_backward(scores / temperature, steps / temperature, first / temperature)[0]
    return chosen, chances
