"""A made-up next-word model, on which attacks are checked: it writes out its canaries, or knows nothing."""

from __future__ import annotations

import numpy as np

from textveil.attacks.federated.seen import NextWordsSeen, Rows
from textveil.attacks.federated.sharers import make_shared
from textveil.noise import secure

WORDS = tuple(f"word{i}" for i in range(50))


def shared_told(tells: str) -> NextWordsSeen:
    """Canaries of every configuration; after a beginning of one, a model that tells all gives its next word half the odds."""
    canaries = make_shared(WORDS, secure(), each=2)
    number = {word: i for i, word in enumerate(WORDS)}
    after: dict[tuple[int, ...], set[int]] = {}
    for canary in canaries.canaries if tells == "all" else ():
        row = tuple(number[word] for word in canary.words)
        for place in range(1, len(row)):
            after.setdefault(row[:place], set()).add(row[place])

    def next_logs(rows: Rows) -> np.ndarray:
        odds = np.ones((len(rows), len(WORDS)))
        for i, begun in enumerate(rows.tolist()):
            odds[i, list(after.get(tuple(begun), ()))] += len(WORDS)
        return np.log(odds / odds.sum(1, keepdims=True))

    return NextWordsSeen(next_logs, WORDS, canaries)
