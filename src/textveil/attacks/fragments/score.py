"""How much of the true sentences stands in what was put together. The truth is looked at here, and nowhere else.

A token of a sentence is recovered when it lies in a run of RUN words or more of that sentence that stands in one
assembled text, word for word. Sentences count once, however often the text repeats them. Tokens of a sentence are
recovered together, so the interval is that of as many independent tokens as the spread over sentences is worth (Korn
and Graubard 1998).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from textveil.attacks.exposure import Ids
from textveil.attacks.fragments.seen import Sentences

RUN = 10


class Recovered(NamedTuple):
    """For each sentence: tokens in runs, and tokens in all."""

    hits: Ids
    tries: Ids

    @property
    def share(self) -> float:
        return float(self.hits.sum() / max(self.tries.sum(), 1))

    def effective(self) -> float:
        """As many independent tokens as these are worth; with none (or all) recovered, as many as there are sentences."""
        total, share = float(self.tries.sum()), self.share
        spread = float(((self.hits - share * self.tries) ** 2).sum())
        if share in (0.0, 1.0) or spread == 0:
            return float(max(1, (self.tries > 0).sum()))
        return max(1.0, share * (1 - share) * total**2 / spread)


def covered(texts: Sentences, truth: Sentences, run: int = RUN) -> np.ndarray:
    """For each token of the truth whether it lies in a run of `run` words or more that stands in one of the texts."""
    from textveil.attacks.fragments import join_kernel as kernel

    held, asked = (np.zeros(max(len(s.words), 1), np.uint64) for s in (texts, truth))
    known = np.unique(held[: kernel.gram_hashes(texts.words, texts.starts, run, held)])
    count = kernel.gram_hashes(truth.words, truth.starts, run, asked)
    asked = asked[:count]
    found = np.isin(asked, known[known != 0]) & (asked != 0)
    grams = np.maximum(truth.lengths() - run + 1, 0)
    first = np.repeat(np.asarray(truth.starts)[:-1] - np.concatenate([[0], np.cumsum(grams)[:-1]]), grams)
    begins = (np.arange(count) + first)[found]
    marks = np.zeros(len(truth.words) + 1, np.int64)
    np.add.at(marks, begins, 1)
    np.add.at(marks, begins + run, -1)
    return np.cumsum(marks)[:-1] > 0


def tokens_recovered(texts: Sentences, truth: Sentences, run: int = RUN) -> Recovered:
    """Tokens in correct runs, of each sentence."""
    marks = covered(texts, truth, run).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(marks)])
    starts = np.asarray(truth.starts)
    return Recovered(before[starts[1:]] - before[starts[:-1]], truth.lengths())


def longest_run(texts: Sentences, truth: Sentences) -> int:
    """The most words in a row of one sentence that stand in one of the texts."""
    low, high = 0, int(min(texts.lengths().max(initial=0), truth.lengths().max(initial=0)))
    while low < high:  # a run of n words holds runs of all shorter lengths
        middle = (low + high + 1) // 2
        low, high = (middle, high) if covered(texts, truth, middle).any() else (low, middle - 1)
    return low


def exact_sentences(texts: Sentences, truth: Sentences, least: int = RUN) -> Recovered:
    """Sentences of `least` words or more that stand whole in one of the texts."""
    lengths = truth.lengths()
    hits = np.zeros(len(truth), np.int64)
    for size in np.unique(lengths[lengths >= least]).tolist():
        places = np.flatnonzero(lengths == size)
        some = truth.take(places)
        hits[places] = covered(texts, some, size).reshape(len(places), size).all(axis=1)
    long = lengths >= least
    return Recovered(hits[long], np.ones(int(long.sum()), np.int64))


def entity_pairs(texts: Sentences, truth: Sentences, beyond: int, most: int = 5) -> Recovered:
    """Two rare words of one sentence, too far apart for one fragment, that stand together in one of the texts.

    Rare words (in at most `most` sentences) are taken for what names
    things: a drug, a client, a number. Pairs count once for each sentence.
    """
    spread: Counter[int] = Counter()
    for place in range(len(truth)):
        spread.update(set(np.asarray(truth[place]).tolist()))
    rare = {word for word, count in spread.items() if word >= 0 and count <= most}
    together = dict[int, set[int]]()
    for place in range(len(texts)):
        for word in rare.intersection(np.asarray(texts[place]).tolist()):
            together.setdefault(word, set()).add(place)
    hits, tries = np.zeros(len(truth), np.int64), np.zeros(len(truth), np.int64)
    for place in range(len(truth)):
        words = np.asarray(truth[place]).tolist()
        named = [(i, word) for i, word in enumerate(words) if word in rare]
        for n, (i, first) in enumerate(named):
            for j, second in named[n + 1 :]:
                if j - i >= beyond and first != second:
                    tries[place] += 1
                    hits[place] += not together.get(first, set()).isdisjoint(together.get(second, ()))
    return Recovered(hits, tries)


def precision(texts: Sentences, truth: Sentences, run: int = RUN) -> float:
    """Of the runs of `run` words that were put together, the share that stands in the truth."""
    from textveil.attacks.fragments import join_kernel as kernel

    held, known = (np.zeros(max(len(s.words), 1), np.uint64) for s in (texts, truth))
    held = held[: kernel.gram_hashes(texts.words, texts.starts, run, held)]
    known = known[: kernel.gram_hashes(truth.words, truth.starts, run, known)]
    return float(np.isin(held, known[known != 0]).mean()) if len(held) else 0.0


__all__ = [
    "RUN",
    "Recovered",
    "covered",
    "entity_pairs",
    "exact_sentences",
    "longest_run",
    "precision",
    "tokens_recovered",
]
