"""Which rows belong to which term: K, counted from the training text itself.

A feature belongs to every word that is part of it: a bigram to two terms. That is why costs of different terms do not
compose "in parallel" as the paper says (one row is removed with either term); sums over terms follow section 6.1
(sequential).

Pairs (term, slot) are held as 64-bit numbers, made unique document by document and merged in sorted runs: 4 million
words give some tens of millions of pairs before merging and need well under a gigabyte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from textveil.hashed.cost import RANKS, Cost, columns_of, cost_of_count, cost_of_pairs, cost_of_several, curve
from textveil.hashed.divergence import DELTA, ORDERS
from textveil.hashed.features import folded, slots_of
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.seal import Prepared
from textveil.hashed.segments import tokenize

_RUN = 1 << 24


@dataclass(frozen=True)
class TermFeatures:
    """terms[owner[i]] has a feature in slot[i]; each pair once, sorted by owner."""

    terms: list[str]
    occurrences: np.ndarray  # int64, one per term
    owner: np.ndarray  # int32
    slot: np.ndarray  # uint32

    @property
    def counts(self) -> np.ndarray:
        """K of each term: how many different slots its features fall into."""
        return np.bincount(self.owner, minlength=len(self.terms))

    def by_frequency(self) -> np.ndarray:
        """Places of the terms, the most frequent first."""
        return np.argsort(-self.occurrences, kind="stable")


def term_features(
    texts: Iterable[str], plan: FeaturePlan, *, advance: Callable[[float], None] | None = None
) -> TermFeatures:
    """All terms of a corpus with the slots of their features.

    >>> found = term_features(["law of Texas", "law"], FeaturePlan(families=("word", "bigram")))
    >>> found.terms, found.occurrences.tolist(), found.counts.tolist()
    (['law', 'of', 'texas'], [2, 1, 1], [2, 3, 2])
    """
    number: dict[str, int] = {}
    occurrences = np.zeros(1024, np.int64)
    runs, waiting, held = list[np.ndarray](), list[np.ndarray](), 0
    for text in texts:
        tokens = tokenize(text)
        words = folded(tokens.words, plan)
        ids = np.fromiter((number.setdefault(w, len(number)) for w in words), np.int64, len(words))
        if len(number) > len(occurrences):
            occurrences = np.concatenate([occurrences, np.zeros(len(number), np.int64)])
        np.add.at(occurrences, ids, 1)
        rows = slots_of(tokens, plan)
        pairs = np.unique((np.repeat(ids, np.diff(rows.starts)) << 32) | rows.indices.astype(np.int64))
        waiting.append(pairs)
        held += len(pairs)
        if held > _RUN:
            runs, waiting, held = [*runs, _merged(waiting)], [], 0
        if advance is not None:
            advance(1)
    pairs = _merged([*runs, *waiting])
    return TermFeatures(
        list(number), occurrences[: len(number)], (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.uint32)
    )


def _merged(parts: list[np.ndarray]) -> np.ndarray:
    if not parts:
        return np.zeros(0, np.int64)
    every = np.concatenate(parts)
    every.sort(kind="stable")  # runs are sorted already: radix sort is one pass over the bytes
    keep = np.ones(len(every), bool)
    keep[1:] = every[1:] != every[:-1]
    return every[keep]


@dataclass(frozen=True)
class TermCosts:
    """For each term its features, those of them that the law was fitted to, and the cost of these very rows."""

    terms: list[str]
    occurrences: np.ndarray
    features: np.ndarray
    fitted: np.ndarray
    forward: np.ndarray
    backward: np.ndarray

    @property
    def larger(self) -> np.ndarray:
        return np.maximum(self.forward, self.backward)


def term_costs(ready: Prepared, found: TermFeatures, delta: float = DELTA) -> TermCosts:
    """The cost of every term: the law with all fitted rows against the law without the term's own rows."""
    place = np.full(len(ready.weights), -1, np.int64)
    place[ready.fitted] = np.arange(len(ready.fitted))
    at = place[found.slot]
    inside = at >= 0
    forward, backward = cost_of_pairs(ready.fitted_rows, found.owner[inside], at[inside], len(found.terms), delta)
    fitted = np.bincount(found.owner[inside], minlength=len(found.terms))
    return TermCosts(found.terms, found.occurrences, found.counts, fitted, forward, backward)


def ranks_by_features(ready: Prepared, costs: TermCosts, found: TermFeatures, delta: float = DELTA) -> dict[int, Cost]:
    """Costs of the 1st, 10th, 100th and 1000th most frequent term, K counted: the worst K rows, whichever they are."""
    order, columns = found.by_frequency(), columns_of(ready.fitted_rows)
    return {
        rank: cost_of_count(columns, int(costs.fitted[order[rank - 1]]), delta) for rank in RANKS if rank <= len(order)
    }


def joint_cost(ready: Prepared, found: TermFeatures, which: list[int], delta: float = DELTA) -> float:
    """Section 6.1: terms that are unknown together; their divergences (worst rows, larger direction) add up."""
    columns = columns_of(ready.fitted_rows)
    inside = np.zeros(len(ready.weights), bool)
    inside[ready.fitted] = True
    counts = np.bincount(found.owner[inside[found.slot]], minlength=len(found.terms))
    return cost_of_several(
        [curve(columns, int(counts[i]), ORDERS) for i in which if counts[i]] or [np.zeros(len(ORDERS))], delta
    )
