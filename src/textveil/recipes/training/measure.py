"""What a trained model is good for: its score on a public test file, beside the same model trained without privacy.

The yardstick is the same net with the same settings, fitted plainly (epsilon=None) to the original. Chance is the largest
class of a classifier's test file, or a tagger that says O of every word; a language model has the uniform guess over its
words.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.core.utility import Utility
from textveil.recipes.measure import MeasureJob, MeasureRoom, UseTask
from textveil.recipes.training.models import ModelJob, read_examples
from textveil.recipes.training.scores import scores
from textveil.recipes.use.classify import share_interval
from textveil.text.examples import Examples
from textveil.training.private_model import PrivateModel
from textveil.training.saved import load

RESAMPLED = 400  # test sets drawn again from the test file, for the interval of an F1
PLAINLY = "without privacy: the same net and settings, fitted plainly to the original"


@dataclass(frozen=True)
class TrainedModel:
    """A released model, and the files that it is measured with."""

    job: MeasureJob
    model: PrivateModel

    @property
    def kind(self) -> str:
        return self.model.name.removeprefix("training.")

    @cached_property
    def test(self) -> Examples:
        return self._read(self.job.test or self.job.truth)

    @cached_property
    def original(self) -> PrivateModel:
        """The same model, fitted to the original without privacy."""
        train = self._read(self.job.truth)
        settings = {**self.model.get_params(), "epsilon": None, "unit": "example", "also": (), "seed": 0}
        plain = type(self.model)(**settings)
        plain.fit(train.inputs, train.targets or None)
        return plain

    def _read(self, path: Path) -> Examples:
        job = self.job
        reading = ModelJob(self.kind, path, job.folder, {}, label_field=job.label_field, **job.reading())
        return read_examples(reading, path)


def open_trained(job: MeasureJob, manifest: dict[str, Any]) -> TrainedModel:
    model = load(job.folder)
    if not isinstance(model, PrivateModel):
        raise BadInput("holds a vocabulary, which answers nothing", where=job.folder)
    return TrainedModel(job, model)


def score(opened: TrainedModel) -> list[Utility]:
    """The score of its kind."""
    return [{"classifier": _accuracy, "tagger": _entities, "lm": _perplexity}[opened.kind](opened)]


def _accuracy(opened: TrainedModel) -> Utility:
    test = opened.test
    right, plain = (
        np.array([said == target for said, target in zip(model.predict(test.inputs), test.targets, strict=True)])  # type: ignore[attr-defined]
        for model in (opened.model, opened.original)
    )
    largest = Counter(test.targets).most_common(1)[0][1] / len(test.targets)
    return Utility(
        "classify the test file", "accuracy", float(right.mean()), float(plain.mean()), largest, share_interval(right),
        sizes={"test": len(right)}, how="the released model", notes=(PLAINLY, "chance: the largest class of the test file"),
    )  # fmt: skip


def _entities(opened: TrainedModel) -> Utility:
    from textveil.nets.entity_scores import all_outside, entity_score

    test = opened.test
    said = opened.model.predict(test.inputs)  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)  # which test sentences are drawn again; nothing private depends on it
    again = []
    for _ in range(RESAMPLED):
        rows = rng.integers(0, len(said), len(said))
        again.append(entity_score([test.targets[i] for i in rows], [said[i] for i in rows]).f1)
    low, high = np.quantile(again, [0.025, 0.975])
    return Utility(
        "tag the test file", "entity F1", entity_score(test.targets, said).f1, scores(opened.original, test)["entity_f1"],
        entity_score(test.targets, all_outside(test.targets)).f1, (float(low), float(high)),
        sizes={"test": len(said)}, how="the released model",
        notes=(PLAINLY, "chance: a tagger that finds nothing", "the interval resamples test sentences"),
    )  # fmt: skip


def _perplexity(opened: TrainedModel) -> Utility:
    value, plain = (scores(model, opened.test)["perplexity"] for model in (opened.model, opened.original))
    return Utility(
        "foresee the next word of the test file", "perplexity", value, plain, None, sizes={"test": len(opened.test.inputs)},
        how="the released model", notes=(PLAINLY, "lower is better"),
    )  # fmt: skip


ROOM = MeasureRoom(open_trained, (UseTask("score", score, asks=("test",)),))
