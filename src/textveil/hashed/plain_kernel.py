"""Compiled count of slots in plain words (see `plain_words`). Imports numba, so it is itself imported late."""

from __future__ import annotations

from textveil.text.compiled import compiled


@compiled
def count_plain(indices, starts, plain, blocked, counted, number, counts):
    """Add one document. `blocked` and `counted` hold the number of the last document that did so at each slot."""
    for t in range(len(plain)):
        if not plain[t]:
            for j in range(starts[t], starts[t + 1]):
                blocked[indices[j]] = number
    for t in range(len(plain)):
        if plain[t]:
            for j in range(starts[t], starts[t + 1]):
                slot = indices[j]
                if blocked[slot] != number and counted[slot] != number:
                    counted[slot] = number
                    if counts[slot] < 65535:
                        counts[slot] += 1
