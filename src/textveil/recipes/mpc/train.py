"""The journey of Alice's classifier: read labelled texts, encode them by a public encoder, train, score, write a folder.

The folder is hers alone: it is no release. A part of each class (or of each rating) is kept back and scored in the clear,
with the share of the largest class beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence
from textveil.core import BadInput
from textveil.core.release import check_free, check_writable
from textveil.recipes.progress import Bar
from textveil.text.readers import FileOptions, open_reader


@dataclass(frozen=True)
class ClassifierJob(FileOptions):
    """Labelled texts, and the classifier that is wanted of them."""

    source: Path
    out: Path
    label_field: str = "label"
    at_least: float | None = None  # ratings from here on are positive, the others negative
    kind: str = "paper"
    inputs: str = "sentence"
    encoder: str | None = None
    epochs: int = 8
    rate: float = 0.002
    batch: int = 50
    test_share: float = 0.2
    seed: int = 0


def train_classifier(job: ClassifierJob, *, bar: Bar) -> dict[str, Any]:
    """Train, score, save; what to print."""
    from textveil.mpc.inputs import Inputs
    from textveil.mpc.model_folder import Classifier, save_classifier
    from textveil.mpc.networks import labels, scores
    from textveil.mpc.train import shape_of, train_network

    check_free(job.out)
    check_writable(job.out)
    texts, given = _read(job)
    names, numbers, strata = _classes(job, given)
    inputs = Inputs(job.inputs, job.encoder)
    with bar("encoding", len(texts), "texts") as advance:
        x = inputs.rows(texts, progress=advance)
    test = held_back(strata, job.test_share, job.seed)
    shape = shape_of(job.kind, inputs.facts.length, inputs.facts.width, len(names))
    with bar("training", job.epochs * int((~test).sum()), "texts") as advance:
        arrays = train_network(
            shape, x[~test], numbers[~test].tolist(), epochs=job.epochs, rate=job.rate, batch=job.batch, seed=job.seed,
            progress=advance,
        )  # fmt: skip
    said = labels(scores(shape, arrays, x[test]))
    score = score_of(said, numbers[test])
    facts = {"kind": job.kind, "epochs": job.epochs, "rate": job.rate, "batch": job.batch, **score}
    save_classifier(Classifier(shape, arrays, tuple(names), inputs.facts.to_json(), facts), job.out)
    return {"out": str(job.out), "texts": len(texts), "classes": names, "features": shape.features, **score}


def score_of(said: NDArray[Any], truth: NDArray[Any]) -> dict[str, Any]:
    """Accuracy with its exact interval, beside the share of the largest class."""
    if not len(truth):
        return {"test": 0}
    hits, largest = int((said == truth).sum()), int(np.bincount(truth).max())
    low, high = Evidence("accuracy", "success", hits / len(truth), 0.0, hits, len(truth)).interval()
    return {
        "test": len(truth),
        "accuracy": hits / len(truth),
        "interval": [low, high],
        "majority": largest / len(truth),
    }


def held_back(strata: NDArray[Any], share: float, seed: int) -> NDArray[np.bool_]:
    """Which rows are kept for the test: the same share of each stratum."""
    if not 0 <= share < 1:
        raise BadInput("the share that is kept for the test lies between 0 and 1")
    rng, test = np.random.default_rng(seed), np.zeros(len(strata), dtype=bool)
    for value in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == value))
        test[rows[: round(share * len(rows))]] = True
    return test


def _read(job: ClassifierJob) -> tuple[list[str], list[Any]]:
    texts, given = [], []
    for record in open_reader(job.source, columns=(), fields=(job.label_field,), **job.reading()):
        label = record.fields.get(job.label_field)
        if label is None or label == "":
            raise BadInput("a record has no label", where=job.source, field=job.label_field)
        texts.append(record.text)
        given.append(label)
    if len(texts) < 10:
        raise BadInput("has fewer than 10 labelled texts", where=job.source)
    return texts, given


def _classes(job: ClassifierJob, given: list[Any]) -> tuple[list[str], NDArray[np.int64], NDArray[Any]]:
    """Names of the classes, the class of each text, and what the test share is drawn from."""
    if job.at_least is None:
        names = sorted({str(label) for label in given})
        if not 2 <= len(names) <= 1000:
            raise BadInput(
                f"has {len(names)} different labels", where=job.source, possible="2 to 1000, or --at-least N"
            )
        places = {name: number for number, name in enumerate(names)}
        numbers = np.array([places[str(label)] for label in given])
        return names, numbers, numbers
    try:
        ratings = np.array([float(label) for label in given])
    except (TypeError, ValueError):
        raise BadInput("--at-least needs ratings that are numbers", where=job.source, field=job.label_field) from None
    return ["negative", "positive"], (ratings >= job.at_least).astype(np.int64), ratings


__all__ = ["ClassifierJob", "held_back", "score_of", "train_classifier"]
