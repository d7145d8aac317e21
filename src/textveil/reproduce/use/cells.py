"""Cells of the study of use.

    channel   what an arm does to the words of the public vocabulary: epsilon, success of the best attack, stay, alike
    clear     accuracy learnt from clear texts, by the number of documents: the learning curve of a collection
    veiled    accuracy learnt from texts veiled by an arm and tested on clear ones

Collections are public, so everything is drawn from seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from textveil.noise.source import seeded
from textveil.recipes.use.bags import Bags, bags_of
from textveil.recipes.use.channel import channel_of
from textveil.recipes.use.linear import Seeing, TfIdf, VectorMean, predictions
from textveil.reproduce.datasets import bundled
from textveil.reproduce.use.arms import attack_on, mechanism_at
from textveil.reproduce.use.collections import Collection, collection
from textveil.text import tokens

REPEATS = ((500, 5), (2_000, 2), (10**9, 1))  # up to so many documents, so many samples of them


def channel(data: Path | None, *, draws: int, seed: int, **arm: Any) -> dict[str, Any]:
    """What the arm does to public words."""
    mechanism = mechanism_at(**arm)
    return {
        "epsilon": float(mechanism.epsilon),
        "attack": attack_on(mechanism, draws, seed),
        **channel_of(mechanism, seeded(seed), draws).to_json(),
    }


def clear(data: Path, *, name: str, documents: list[int]) -> dict[str, Any]:
    """The learning curve of a collection."""
    texts = collection(data, name, max(documents))
    train, test = bags_of(texts.train, texts.test)
    sizes = sorted({min(count, len(train)) for count in documents})
    largest = int(np.bincount(texts.numbers).argmax())
    return {
        "curve": [[count, float(np.mean(_samples(train, test, texts, count)))] for count in sizes],
        "vectors": _accuracy(VectorMean(bundled()), train, texts.numbers, test, texts),
        "chance": float((texts.asked == largest).mean()),
        "tested": len(texts.asked),
        "labels": texts.classes,
        "words": float(np.mean([len(tokens.words(text)) for text in texts.train])),
    }


def veiled(data: Path, *, name: str, draw: int, documents: list[int], **arm: Any) -> dict[str, Any]:
    """What veiled texts give, by the number of documents."""
    texts = collection(data, name, max(documents))
    out = mechanism_at(**arm).apply(texts.train, noise=seeded(1_000 + draw))
    train, test = bags_of(out, texts.test)
    points = []
    for count in sorted({min(count, len(train)) for count in documents}):
        own, numbers = train.take(np.arange(count)), texts.numbers[:count]
        scores = {
            how: _accuracy(seeing, own, numbers, test, texts)
            for how, seeing in (("tfidf", TfIdf()), ("vectors", VectorMean(bundled())))
        }
        points.append({"documents": count, **scores})
    return {"points": points}


def _samples(train: Bags, test: Bags, texts: Collection, count: int) -> list[float]:
    repeats = next(times for most, times in REPEATS if count <= most)
    found = []
    for seed in range(repeats):
        rows = seeded(seed).permutation(len(train))[:count] if count < len(train) else np.arange(count)
        found.append(_accuracy(TfIdf(), train.take(rows), texts.numbers[rows], test, texts))
    return found


def _accuracy(seeing: Seeing, train: Bags, numbers: np.ndarray, test: Bags, texts: Collection) -> float:
    """Share of clear test texts that are labelled rightly; a small sample may lack some labels."""
    labels, own = np.unique(numbers, return_inverse=True)
    if len(labels) == 1:
        return float((texts.asked == labels[0]).mean())
    return float((labels[predictions(seeing, train, own, len(labels), test)] == texts.asked).mean())
