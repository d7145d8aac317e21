"""Paper 01: models of contracts, trained on features that are computed once a process and shared by all clause types."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from textveil.hashed.corpus import Corpus, label_tokens
from textveil.hashed.decode import decode
from textveil.hashed.extractor import Extractor
from textveil.hashed.features import Slots, slots_of
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import Tokens, tokenize
from textveil.hashed.table import WeightTable
from textveil.hashed.widening import widen
from textveil.reproduce.paper01.data import contracts

PLAN = FeaturePlan()
LABELS = ("O", "CLAUSE")
HALF = 0.5  # a found span counts if it shares this part of the longer of the two


class Features(NamedTuple):
    tokens: Tokens
    slots: Slots


@lru_cache(maxsize=512)
def features(data: Path, place: int) -> Features:
    """Tokens and slots of one contract."""
    tokens = tokenize(contracts(data).texts[place])
    return Features(tokens, slots_of(tokens, PLAN))


def truth(data: Path, clause: str, place: int) -> np.ndarray:
    """Whether each token of a contract is inside a marked passage."""
    spans = [(start, end, 1) for start, end in contracts(data).spans[clause][place]]
    return label_tokens(features(data, place).tokens, spans)


def corpus_of(data: Path, clause: str, places: list[int]) -> Corpus:
    """Contracts as the trainer reads them."""
    corpus = Corpus(PLAN)
    for place in places:
        own = features(data, place)
        corpus.add_tokens(own.tokens, own.slots, truth(data, clause, place))
    return corpus


def train(data: Path, clause: str, places: list[int], shuffle: int | None = None) -> Extractor:
    """The unsealed model of a clause type, with the settings that the room ships."""
    model = Extractor(shuffle=shuffle is not None, seed=shuffle)
    return model.fit_corpus(corpus_of(data, clause, places), LABELS)


def found(data: Path, model: Extractor, place: int, table: WeightTable | None = None) -> np.ndarray:
    """Which tokens of a contract the model extracts (whole sentences), with its own table or another one."""
    own = features(data, place)
    labels = decode(own.slots, own.tokens.paragraphs, model.table_ if table is None else table).labels
    return widen(labels, own.tokens.sentences, model.share)


class Score(NamedTuple):
    """Precision, recall and F1."""

    p: float
    r: float
    f: float


def score(hits: int, found: int, true: int) -> Score:
    """
    >>> score(1, 2, 4)
    Score(p=0.5, r=0.25, f=0.3333333333333333)
    """
    p, r = hits / max(1, found), hits / max(1, true)
    return Score(p, r, 2 * p * r / (p + r) if hits else 0.0)


def token_score(pairs: list[tuple[np.ndarray, np.ndarray]]) -> Score:
    """Of (found, true) labels per contract, all tokens together.

    >>> token_score([(np.array([1, 1, 0]), np.array([0, 1, 1]))])
    Score(p=0.5, r=0.5, f=0.5)
    """
    hits = sum(int(((a > 0) & (b > 0)).sum()) for a, b in pairs)
    return score(hits, sum(int((a > 0).sum()) for a, _ in pairs), sum(int((b > 0).sum()) for _, b in pairs))


def runs(labels: np.ndarray) -> list[tuple[int, int]]:
    """Stretches of tokens with a label above 0.

    >>> runs(np.array([0, 1, 1, 0, 1]))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (labels > 0).astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def span_score(pairs: list[tuple[np.ndarray, np.ndarray]]) -> Score:
    """Of spans: a found one is right if it shares half of the longer of the two with a marked one.

    >>> span_score([(np.array([1, 1, 0, 1]), np.array([0, 1, 0, 0]))])
    Score(p=0.5, r=1.0, f=0.6666666666666666)
    """
    right = found = reached = true = 0
    for given, wanted in pairs:
        a, b = runs(given), runs(wanted)
        found, true = found + len(a), true + len(b)
        right += sum(any(_same(x, y) for y in b) for x in a)
        reached += sum(any(_same(x, y) for x in a) for y in b)
    p, r = right / max(1, found), reached / max(1, true)
    return Score(p, r, 2 * p * r / (p + r) if right else 0.0)


def _same(a: tuple[int, int], b: tuple[int, int]) -> bool:
    shared = min(a[1], b[1]) - max(a[0], b[0])
    return shared >= HALF * max(a[1] - a[0], b[1] - b[0])
