"""Sentences as rows of bounded length: what the sound variant learns from and what it applies its table to.

Claim. Every row has Euclidean length 1 (an empty one 0), and the rows of a paragraph depend on nothing outside the
paragraph, nor on any other document: weights are public constants. The sensitivity of training rests on both.

A sentence is the *set* of its features: its words, the clusters of its words and its pairs of neighbours, each hashed to a
slot exactly as in an unsealed model ("w|court", "c|17", "b|new|york"). A feature weighs what its words weigh: minus the
logarithm of their chance under the public law that comes with the bundled vectors, so that "the" counts little and no
statistic of private text is needed. Then the row is divided by its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from textveil.core.params import non_negative
from textveil.hashed.features import folded, slots_of
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import Tokens


@dataclass(frozen=True)
class RowPlan:
    """Public constants of the rows, kept in the model: how much each family of features weighs before the division.

    >>> RowPlan.from_json(RowPlan(pair=0.5).to_json()).pair
    0.5
    """

    word: float = 1.0
    cluster: float = 0.25
    pair: float = 0.5
    unknown: float = (
        0.5  # of a word that the public law lacks: too rare to be learnt under noise, so it only takes room
    )

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            non_negative(name, value)

    def to_json(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_json(cls, shown: Mapping[str, Any]) -> RowPlan:
        return cls(**shown)


class Rows(NamedTuple):
    """Row s holds values[starts[s]:starts[s + 1]] in the slots of the same places, slots rising."""

    slots: np.ndarray  # uint32
    values: np.ndarray  # float32
    starts: np.ndarray  # int64, one more than rows

    def __len__(self) -> int:
        return len(self.starts) - 1

    def matrix(self, slots: int) -> Any:
        """As a sparse matrix of `slots` columns."""
        from scipy import sparse

        return sparse.csr_matrix((self.values, self.slots.astype(np.int32), self.starts), shape=(len(self), slots))


def rows_of(tokens: Tokens, plan: FeaturePlan, rows: RowPlan) -> Rows:
    """One row per sentence.

    >>> from textveil.hashed.segments import tokenize
    >>> found = rows_of(tokenize("Texas law governs. Texas law governs."), FeaturePlan(bits=12), RowPlan())
    >>> len(found), [round(float((found.values[a:b] ** 2).sum()), 6) for a, b in zip(found.starts, found.starts[1:])]
    (2, [1.0, 1.0])
    """
    if not tokens.words:
        return Rows(np.zeros(0, np.uint32), np.zeros(0, np.float32), np.zeros(1, np.int64))
    sizes = np.diff(tokens.sentences)
    of_token = np.repeat(np.arange(len(sizes)), sizes)
    weights = word_weights(folded(tokens.words, plan), rows.unknown)
    parts = [_of_family(family, tokens, plan, of_token, weights, rows) for family in ("word", "cluster", "bigram")]
    sentence, slot, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _divided(sentence, slot, value, len(sizes), plan)


def word_weights(words: list[str], unknown: float = 0.5) -> np.ndarray:
    """The public weight of each word, from 0 to 1.

    >>> the, court, strange = word_weights(["the", "court", "qqzz"]).tolist()
    >>> the < court, strange
    (True, 0.5)
    """
    get = _public_weights().get
    return np.fromiter((get(word, unknown) for word in words), np.float64, len(words))


@lru_cache(maxsize=1)
def _public_weights() -> dict[str, float]:
    from textveil.text.vectors import load

    vectors = load("default")
    surprise = -np.log(np.maximum(vectors.prior, 1e-12))
    return dict(zip(vectors.words, (surprise / surprise.max()).tolist(), strict=True))


def _of_family(
    family: str, tokens: Tokens, plan: FeaturePlan, of_token: np.ndarray, weights: np.ndarray, rows: RowPlan
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sentence, slot and weight of each feature of one family; the same feature may come again."""
    scale = {"word": rows.word, "cluster": rows.cluster, "bigram": rows.pair}[family]
    if family not in plan.families or not scale:
        return of_token[:0], np.zeros(0, np.uint32), weights[:0]
    found = slots_of(tokens, replace(plan, families=(family,)))
    if family != "bigram":
        place = np.flatnonzero(np.diff(found.starts))  # a word without a cluster has no such feature
        return of_token[place], found.indices[found.starts[place]], scale * weights[place]
    # The row of a token ends with the pair that it makes with the token after it, where there is one.
    place = np.flatnonzero(of_token[1:] == of_token[:-1])
    both = (weights[place] + weights[place + 1]) / 2
    return of_token[place], found.indices[found.starts[place + 1] - 1], scale * both


def _divided(sentence: np.ndarray, slot: np.ndarray, value: np.ndarray, count: int, plan: FeaturePlan) -> Rows:
    """Each slot once per sentence with its largest weight, each row divided by its length."""
    key = (sentence.astype(np.int64) << plan.bits) | slot
    order = np.lexsort((-value, key))
    key, value = key[order], value[order]
    first = np.ones(len(key), bool)
    first[1:] = key[1:] != key[:-1]
    key, value = key[first], value[first]
    of = key >> plan.bits
    length = np.sqrt(np.bincount(of, value**2, count))
    value = (value / np.maximum(length, 1e-12)[of]).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=count))]).astype(np.int64)
    return Rows((key & (plan.slots - 1)).astype(np.uint32), value, starts)
