"""A bigram language model of public text: interpolated Kneser-Ney over a fixed vocabulary and a public prior.

p(w | v) = max(c(v, w) - D, 0) / c(v)  +  D n(v) / c(v) * p1(w)         (p1(w) where v was never followed by anything)
p1(w)    = (m(w) + T pi(w)) / (M + T)

c(v, w) counts "v w", c(v) sums it over w, n(v) is the number of different followers of v, m(w) that of different words
before w, M their sum, T the number of different words seen; D = n1 / (n1 + 2 n2) from the pairs seen once and twice. The
prior pi comes in with the weight that Witten and Bell give to new events, so a word of positive prior has positive odds.
Each row sums to 1: the first part gives (c(v) - D n(v)) / c(v), the second the rest.

Words outside the vocabulary (-1) are a context like any other and are never predicted; so is the start of a text.

Source: Kneser and Ney (1995); Chen and Goodman (1999), sections 2.7 and 3; Witten and Bell (1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Ids

Floats = NDArray[np.float64]


class BigramModel:
    """Odds of a word after another.

    >>> model = BigramModel([np.array([0, 1, 0, 1]), np.array([0, 1, 2])], np.array([0.5, 0.25, 0.25]))
    >>> after_0 = model.odds(np.array([[0]]), np.array([[0, 1, 2]]))[0, 0]
    >>> round(float(after_0.sum()), 12), int(after_0.argmax())
    (1.0, 1)
    """

    def __init__(self, texts: Sequence[Ids], prior: Floats):
        self._words = words = len(prior)
        self.start = words + 1  # context at the start of a text; `words` itself is the context of an unknown word
        before, after = _neighbours(texts, words)
        seen = np.bincount(after, minlength=words).astype(np.float64)
        types = float(np.count_nonzero(seen))
        self.unigram: Floats = (seen + types * prior) / (seen.sum() + types) if types else np.array(prior, np.float64)
        self._pairs, counts = np.unique(before * words + after, return_counts=True)
        first, second = np.divmod(self._pairs, words)
        discount = _discount(counts)
        total = np.bincount(first, weights=counts, minlength=words + 2)
        self._gain: Floats = (counts - discount) / total[first]
        followers = np.bincount(first, minlength=words + 2)
        self._rest: Floats = np.ones(words + 2)
        np.divide(discount * followers, total, out=self._rest, where=total > 0)
        reached = np.bincount(second, minlength=words)
        self._lower: Floats = (reached + types * prior) / (len(self._pairs) + types) if types else self.unigram

    def odds(self, before: NDArray[Any], after: NDArray[Any]) -> Floats:
        """p(after | before) for all combinations: (n, a) and (n, b) give (n, a, b). Contexts include `start`."""
        found = self._rest[before][:, :, None] * self._lower[after][:, None, :]
        if len(self._pairs):
            keys = before.astype(np.int64)[:, :, None] * self._words + after[:, None, :]
            places = np.minimum(np.searchsorted(self._pairs, keys), len(self._pairs) - 1)
            found += np.where(self._pairs[places] == keys, self._gain[places], 0.0)
        return found


def _neighbours(texts: Sequence[Ids], words: int) -> tuple[Ids, Ids]:
    """Each word of the vocabulary with what stands before it."""
    kept = [np.asarray(text, dtype=np.int64) for text in texts if len(text)]
    if not kept:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    after = np.concatenate(kept)
    before = np.concatenate([np.concatenate([[words + 1], np.where(text < 0, words, text)[:-1]]) for text in kept])
    known = after >= 0
    return before[known], after[known]


def _discount(counts: NDArray[Any]) -> float:
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return once / (once + 2 * twice) if once and twice else 0.75  # too little text to tell: the usual value
