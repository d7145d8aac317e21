"""Made-up releases of words, on which attacks are checked: either all is told, or nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from textveil.attacks.exposure import AnswersSeen, Ids, Labelled, Members, OriginalWords, TwoWorlds
from textveil.attacks.words.seen import WordsSeen
from textveil.attacks.words.two_worlds import Pairs
from textveil.noise import secure

WORDS, RELEASED = 20, 1_000
CANDIDATES, OWN = 120, 60


class ToldChannel:
    """A word stays itself, or becomes any word; with the odds of both."""

    def __init__(self, tells: str):
        self.rows = np.eye(WORDS) if tells == "all" else np.full((WORDS, WORDS), 1 / WORDS)

    def odds(self, ids: Ids) -> np.ndarray:
        return self.rows[ids]

    def sample(self, ids: Ids, source: Any) -> Ids:
        return np.array(ids) if self.rows[0, 0] == 1 else source.below(WORDS, len(ids))


def words_told(tells: str) -> WordsSeen:
    """Single words, each a text of its own, with what they were."""
    channel, source = ToldChannel(tells), secure()
    secret = source.below(WORDS, RELEASED)
    return WordsSeen(
        [f"word{i}" for i in range(WORDS)],
        np.full(WORDS, 1 / WORDS),
        channel,
        observed=channel.sample(secret, source),
        documents=np.arange(RELEASED),
        public=[source.below(WORDS, 40) for _ in range(20)],
        truth=OriginalWords(secret),
    )


class Response:
    """Randomized response over all words; states a loss of 1 for words at distance 1."""

    stated, excludes_input = 1.0, False

    def __init__(self, loss: float):
        self.stay = math.exp(loss) / (math.exp(loss) + WORDS - 1)

    def pairs(self, count: int, source: Any) -> Pairs:
        first = source.below(WORDS, count)
        return Pairs(first, (first + 1) % WORDS, np.ones(count))

    def sample(self, ids: Ids, source: Any) -> Ids:
        return np.where(
            source.uniforms(len(ids)) < self.stay, ids, (ids + 1 + source.below(WORDS - 1, len(ids))) % WORDS
        )


def responses_told(tells: str) -> TwoWorlds:
    """The public mechanism alone, at a loss of 0 or of 40."""
    return TwoWorlds(Response({"nothing": 0.0, "all": 40.0}[tells]), [f"word{i}" for i in range(WORDS)])


class Memory:
    """A classifier that is surer of texts it was trained on, or not."""

    def __init__(self, odds: float, trained: Any):
        self.odds, self.trained = odds, set(trained)

    def __call__(self, texts: Any) -> list[list[float]]:
        sure = [self.odds if text in self.trained else 0.6 for text in texts]
        return [[1 - p, p] if text.endswith("1") else [p, 1 - p] for text, p in zip(texts, sure, strict=True)]


def answers_told(tells: str) -> AnswersSeen:
    """A model that remembers its training texts, or not, and one like it for the adversary."""
    odds = {"all": 0.99, "nothing": 0.6}[tells]
    texts = [f"text {i} {i % 2}" for i in range(CANDIDATES + OWN)]
    labels = [i % 2 for i in range(len(texts))]
    member = secure().below(2, CANDIDATES)
    return AnswersSeen(
        Labelled(texts[:CANDIDATES], labels[:CANDIDATES]),
        query=Memory(odds, [texts[i] for i in np.flatnonzero(member)]),
        retrain=lambda trained, _: Memory(odds, trained),
        own=Labelled(texts[CANDIDATES:], labels[CANDIDATES:]),
        truth=Members(member),
    )
