"""What a model is shown in one epoch: fragments in the form that was asked for, and general sentences between them.

Fragments alone make a model write short sentences. Cures that change what it is shown:

    replay        so many general sentence pairs for each fragment
    join          up to so many fragments in a row, drawn anew in each epoch: as long as sentences, without being one
    length tags   a mark before the source that says how long the fragment is; sentences have none, so what is short
                  is learnt as belonging to the mark
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Pair = tuple[str, str]
TAGS = ("<P>", "</P>")
LENGTH_TAGS = ("<L1>", "<L2>", "<L4>", "<L8>")


def length_tagged(pair: Pair) -> Pair:
    """The pair with the mark of its target length: 1, up to 2, up to 4, more.

    >>> length_tagged(("am See", "by the lake"))
    ('<L4> am See', 'by the lake')
    """
    words = len(pair[1].split())
    tag = LENGTH_TAGS[min(max(words - 1, 0).bit_length(), len(LENGTH_TAGS) - 1)]
    return f"{tag} {pair[0]}", pair[1]


def joined(fragments: Sequence[Pair], most: int, rng: np.random.Generator) -> list[Pair]:
    """Unrelated fragments in a row, 1 to `most` of them; each fragment is used once.

    >>> rows = joined([("a", "b"), ("c", "d"), ("e", "f")], 3, np.random.default_rng(1))
    >>> sorted(" ".join(s for s, _ in rows).split())
    ['a', 'c', 'e']
    """
    order, rows = rng.permutation(len(fragments)).tolist(), list[Pair]()
    while order:
        chosen = [fragments[order.pop()] for _ in range(min(int(rng.integers(1, most + 1)), len(order)))]
        rows.append((" ".join(s for s, _ in chosen), " ".join(t for _, t in chosen)))
    return rows


@dataclass(frozen=True)
class Diet:
    """Fragments, general sentences, and how they are mixed."""

    fragments: Sequence[Pair]
    general: Sequence[Pair] = ()
    replay: float = 0.0
    join: int = 1
    length_tags: bool = False

    def epoch(self, rng: np.random.Generator) -> Iterator[Pair]:
        """One epoch in a random order: every fragment once, and so many general sentence pairs for each."""
        rows = joined(self.fragments, self.join, rng) if self.join > 1 else [*self.fragments]
        if self.length_tags:
            rows = [length_tagged(row) for row in rows]
        wanted = round(self.replay * len(rows))
        chosen = rng.integers(len(self.general), size=wanted) if wanted and len(self.general) else np.zeros(0, int)
        rows += [self.general[i] for i in chosen]
        for i in rng.permutation(len(rows)):
            yield rows[i]

    def size(self) -> int:
        """About how many rows an epoch has."""
        return round(len(self.fragments) * 2 / (self.join + 1) * (1 + self.replay))


__all__ = ["LENGTH_TAGS", "TAGS", "Diet", "joined", "length_tagged"]
