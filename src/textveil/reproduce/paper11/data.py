"""Paper 11: the reviews, their vectors and the trained networks; vectors and networks are made once.

Encoding takes minutes, so it is cut into parts that are kept (in the folder of temporary files) as soon as each is done, and
so is every trained network: a study that was stopped, or that runs in several processes, goes on from there.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.mpc.inputs import Inputs
from textveil.mpc.model_folder import Classifier
from textveil.mpc.networks import labels
from textveil.mpc.oracle import oracle_scores
from textveil.mpc.train import shape_of, train_network
from textveil.recipes.mpc.train import held_back

REVIEWS, FILE, POSITIVE = "amazon_reviews", "train.jsonl.gz", 4
PARTS = 8  # of the texts, for encoding
VERSION = 1  # of what is kept

Arrays = Mapping[str, NDArray[Any]]


class Reviews(NamedTuple):
    """Texts and stars."""

    texts: list[str]
    stars: NDArray[np.int64]

    @property
    def positive(self) -> NDArray[np.int64]:
        return (self.stars >= POSITIVE).astype(np.int64)


@lru_cache(maxsize=1)
def read_reviews(data: Path) -> Reviews:
    with gzip.open(data / REVIEWS / FILE, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return Reviews([row["text"] or "" for row in rows], np.array([int(row["rating"]) for row in rows]))


@lru_cache(maxsize=1)
def _digest(data: Path) -> str:
    return hashlib.sha256((data / REVIEWS / FILE).read_bytes()).hexdigest()


def _kept(key: list[Any], make: Callable[[], Arrays]) -> Arrays:
    """Arrays that were made before under this key, or that are made now and appear in one step."""
    digest = hashlib.sha256(json.dumps([VERSION, *key]).encode()).hexdigest()[:24]
    path = Path(tempfile.gettempdir()) / f"textveil-paper11-{digest}.npz"
    if not path.exists():
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".part", delete=False) as file:
            np.savez(file, **make())
        os.replace(file.name, path)
    with np.load(path, allow_pickle=False) as held:
        return dict(held)


@lru_cache(maxsize=2)
def inputs_of(kind: str) -> Inputs:
    return Inputs(kind)


def encode_part(data: Path, kind: str, part: int) -> NDArray[np.float32]:
    """The rows of one part of the texts."""
    inputs, texts = inputs_of(kind), read_reviews(data).texts
    own = texts[part * len(texts) // PARTS : (part + 1) * len(texts) // PARTS]
    key = [_digest(data), inputs.facts.to_json(), part, PARTS]
    return _kept(key, lambda: {"rows": inputs.rows(own)})["rows"]


@lru_cache(maxsize=2)
def encoded(data: Path, kind: str) -> NDArray[np.float32]:
    """The rows of all texts."""
    return np.concatenate([encode_part(data, kind, part) for part in range(PARTS)])


class Trained(NamedTuple):
    """A network, and which reviews were kept back from it."""

    classifier: Classifier
    test: NDArray[np.bool_]


@lru_cache(maxsize=8)
def trained(data: Path, network: str, kind: str, seed: int) -> Trained:
    """A network trained on four fifths of each rating, as in the paper."""
    reviews, facts = read_reviews(data), inputs_of(kind).facts.to_json()
    test = held_back(reviews.stars, 0.2, seed)
    shape = shape_of(network, facts["length"], facts["width"])
    epochs = 15 if network == "linear" else 8

    def train() -> Arrays:
        x, y = encoded(data, kind)[~test], reviews.positive[~test].tolist()
        return train_network(shape, x, y, epochs=epochs, seed=seed)

    arrays = _kept([_digest(data), facts, shape.to_json(), epochs, seed], train)
    return Trained(Classifier(shape, dict(arrays), ("negative", "positive"), facts), test)


def answers(data: Path, network: str) -> NDArray[np.int64]:
    """What a server would answer to every review: the labels in fixed point."""
    classifier = trained(data, network, "sentence", 0).classifier
    key = [_digest(data), dict(classifier.inputs), classifier.shape.to_json(), "answers"]
    x = encoded(data, "sentence")
    return _kept(key, lambda: {"labels": labels(oracle_scores(classifier.shape, classifier.arrays, x))})["labels"]


__all__ = ["PARTS", "REVIEWS", "Reviews", "Trained", "answers", "encode_part", "encoded", "read_reviews", "trained"]
