"""Compiled count of slots in plain words (see `plain_words`). Imports numba, so it is itself imported late."""

from __future__ import annotations

from textveil.hashed.compiled import compiled


@compiled
def count_plain(indices, starts, plain, blocked, stamp, number, counts):
    """Add one document. `stamp` holds its number at each of its slots, and is negated once the slot has counted."""
    for t in range(len(plain)):
        if not plain[t]:
            for j in range(starts[t], starts[t + 1]):
                blocked[indices[j]] = number
    for t in range(len(plain)):
        if plain[t]:
            for j in range(starts[t], starts[t + 1]):
                slot = indices[j]
                if blocked[slot] != number and stamp[slot] == number:
                    stamp[slot] = -number
                    if counts[slot] < 65535:
                        counts[slot] += 1
