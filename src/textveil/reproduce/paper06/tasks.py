"""Paper 06 on sentences: Figure 2(E-L), IMDb reviews and disaster tweets, with a bidirectional LSTM.

The paper does not say which texts the classifier learns from. `trained_on = "clear"`: it learns once from unchanged texts and
reads veiled ones (the loss that redaction causes a service which already stands); "veiled": it learns from texts
veiled by the same arm. The paper's privacy loss is that of single words, with their frequencies in the data set as prior.

Only words "subject to redaction" are drawn and can be drawn. For tweets: all words with a vector. For IMDb the paper uses a
list of 26,078 words that is not public with the data; the stand-in is made by `redactable`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.noise.source import Source, seeded
from textveil.reproduce import datasets
from textveil.reproduce.datasets import Labelled
from textveil.reproduce.paper06.words import T, inference_error, outputs_of_arms
from textveil.text import tokens
from textveil.text.vectors import Vectors

LISTED = 26_078
_FUNCTION_WORDS = frozenset(
    "a an the and or but nor so yet if then than as at by for from in into of off on onto out over to up with without "
    "about after again against all am any are be because been before being below between both did do does doing down during "
    "each few further had has have having he her here hers herself him himself his how i is it its itself just me more most "
    "my myself no not now once only other our ours ourselves own same she should some such that their theirs them themselves "
    "there these they this those through too under until very was we were what when where which while who whom why will "
    "would you your yours yourself yourselves can could may might must shall 's n't 're 've 'll 'd 'm".split()
)
ARMS = (*(f"sound t={t:g}" for t in T), *(f"printed t={t:g}" for t in T if t > 0), "mahalanobis")


class Veiled(NamedTuple):
    """Texts whose redactable words can be replaced: pieces, and where each such word stands."""

    pieces: list[list[str]]
    places: list[tuple[int, int]]  # text, piece
    rows: np.ndarray

    def with_rows(self, rows: np.ndarray, names: list[str]) -> list[str]:
        new = [list(pieces) for pieces in self.pieces]
        for (text, piece), row in zip(self.places, rows.tolist(), strict=True):
            new[text][piece] = names[row]
        return ["".join(pieces) for pieces in new]


def task(
    data: Path,
    *,
    dataset: str,
    embedding: str,
    epsilons: list[float],
    seed: int,
    draws: int,
    documents: int,
    most_words: int,
    trained_on: str,
) -> dict[str, Any]:
    """Inference error and misclassification of every arm, at several epsilons, for one split of the texts."""
    texts = _texts(data, dataset, documents, most_words, seed)
    vectors = datasets.embedding(data, embedding)
    words = redactable(texts, vectors, limited=dataset == "imdb")
    prior = _frequencies(texts, words)
    train, test = texts.split(0.9, seed)
    clear = _fit(train.texts, train.labels, vectors, seed, most_words)
    noise = seeded(seed)
    inputs = np.searchsorted(np.cumsum(prior), noise.uniforms(draws) * prior.sum(), side="right")
    inputs = np.minimum(inputs, len(prior) - 1)
    found = {}
    for epsilon in epsilons:
        privacy = _privacy(words, inputs, prior, epsilon, noise)
        loss = _loss(train, test, words, vectors, epsilon, noise, clear, trained_on, seed, most_words)
        found[f"{epsilon:g}"] = {arm: {**privacy[arm], "loss": loss[arm]} for arm in ARMS}
    baseline = float(np.mean(clear.predict(test.texts) != test.labels))
    majority = float(min(test.labels.mean(), 1 - test.labels.mean()))
    return {
        "words": len(words),
        "tested": len(test.texts),
        "baseline": baseline,
        "majority": majority,
        "epsilons": found,
    }


def redactable(texts: Labelled, vectors: Vectors, *, limited: bool) -> Vectors:
    """The words that are drawn. Limited: the most frequent words of the vectors' own list that occur, function words left
    out, as many as the paper's list has (or all there are)."""
    occurring = {tokens.fold(w) for text in texts.texts for w in tokens.words(text)}
    listed = [w for w in vectors.words if w in occurring and not (limited and w in _FUNCTION_WORDS)]
    return datasets.part_of(vectors, listed[:LISTED] if limited else listed)


def _texts(data: Path, dataset: str, documents: int, most_words: int, seed: int) -> Labelled:
    whole = datasets.tweets(data) if dataset == "tweets" else datasets.reviews(data, "train")
    some = whole.sample(documents, seed)
    return Labelled([datasets.first_words(text, most_words) for text in some.texts], some.labels)


def _frequencies(texts: Labelled, words: Vectors) -> np.ndarray:
    seen = Counter(tokens.fold(w) for text in texts.texts for w in tokens.words(text))
    counts = np.array([seen[w] for w in words.words], dtype=float)
    return counts / counts.sum()


def _privacy(
    words: Vectors, inputs: np.ndarray, prior: np.ndarray, epsilon: float, noise: Source
) -> dict[str, dict[str, float]]:
    outputs = outputs_of_arms(words, inputs, epsilon, noise)
    return {arm: inference_error(inputs, outputs[arm], prior, noise) for arm in ARMS}


def _loss(
    train: Labelled,
    test: Labelled,
    words: Vectors,
    vectors: Vectors,
    epsilon: float,
    noise: Source,
    clear: Any,
    trained_on: str,
    seed: int,
    most_words: int,
) -> dict[str, float]:
    read = _veil(test.texts, words, epsilon, noise)
    learnt = _veil(train.texts, words, epsilon, noise) if trained_on == "veiled" else None
    wrong = {}
    for arm in ARMS:
        model = clear if learnt is None else _fit(learnt[arm], train.labels, vectors, seed, most_words)
        wrong[arm] = float(np.mean(model.predict(read[arm]) != test.labels))
    return wrong


def _veil(texts: list[str], words: Vectors, epsilon: float, noise: Source) -> dict[str, list[str]]:
    names = list(words.words)
    cut = _cut(texts, words)
    outputs = outputs_of_arms(words, cut.rows, epsilon, noise)
    return {arm: cut.with_rows(outputs[arm], names) for arm in ARMS}


def _cut(texts: list[str], words: Vectors) -> Veiled:
    pieces, places, rows = [], [], []
    for number, text in enumerate(texts):
        own, at = tokens.split(text)
        pieces.append(own)
        for place in at:
            row = words.index(tokens.fold(own[place]))
            if row is not None:
                places.append((number, place))
                rows.append(row)
    return Veiled(pieces, places, np.array(rows, dtype=np.int64))


def _fit(texts: list[str], labels: np.ndarray, vectors: Vectors, seed: int, most_words: int) -> Any:
    from textveil.nets.bilstm import BiLSTM

    return BiLSTM(hidden=48, vectors=vectors, max_words=most_words, seed=seed).fit(texts, labels)
