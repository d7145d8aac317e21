"""Cells of a frontier: pieces of work on one file that are done once and kept.

    attack   the epsilon at which the best attack on a word succeeds as often as wanted; public words only
    clear    how well both classifiers learn from the clear text; the better one is used for all points
    use      how well it learns from the text veiled once; the veiled text is thrown away

The file is private: cells hold figures about it, so they are kept where only its owner can read. The noise comes from the
secure source; nothing is released, so nothing is charged.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.core import BadInput
from textveil.noise.source import secure
from textveil.recipes.use.bags import bags_of
from textveil.recipes.use.classify import Learning, correct_answers
from textveil.recipes.use.labels import FOLDS, folds_of, labels_of, spread_rows
from textveil.recipes.use.linear import Seeing, TfIdf, VectorMean
from textveil.reproduce.use.arms import attack_on, mechanism_at
from textveil.text import readers
from textveil.text.vectors import load

WHOLE_FOLDS = 2_000  # up to so many records all of them are tested, in folds; above, one fifth is


class LabelledFile(NamedTuple):
    """Texts to veil with their class numbers; without texts to test on, folds are made."""

    texts: list[str]
    numbers: np.ndarray
    classes: int
    test: list[str]
    asked: np.ndarray | None


def attack(data: Path, *, draws: int, **arm: Any) -> dict[str, Any]:
    """The setting and how well its best attack does."""
    mechanism = mechanism_at(**arm)
    return {"epsilon": float(mechanism.epsilon), "attack": attack_on(mechanism, draws, seed=1)}


def clear(data: Path, *, reading: dict[str, Any], file: str) -> dict[str, Any]:
    """What the clear text gives."""
    texts = _read(data, reading)
    learning = _learning(texts, texts.texts)
    scores = {name: float(correct_answers(learning, learning.released, s).mean()) for name, s in _seeings().items()}
    best = max(scores, key=lambda name: scores[name])
    asked = texts.numbers if texts.asked is None else texts.asked
    chance = float((asked == int(np.bincount(texts.numbers).argmax())).mean())
    return {
        "learner": best,
        "accuracy": scores[best],
        "chance": chance,
        "train": len(texts.texts) if texts.asked is not None else len(texts.texts) * (FOLDS - 1) // FOLDS,
        "tested": len(asked),
        "labels": texts.classes,
    }


def use(data: Path, *, reading: dict[str, Any], file: str, learner: str, draw: int, **arm: Any) -> dict[str, Any]:
    """What the text gives once it is veiled."""
    texts = _read(data, reading)
    veiled = mechanism_at(**arm).apply(texts.texts, noise=secure())
    learning = _learning(texts, list(veiled))
    return {"accuracy": float(correct_answers(learning, learning.released, _seeings()[learner]).mean())}


def _seeings() -> dict[str, Seeing]:
    return {"tfidf": TfIdf(), "vectors": VectorMean(load("default"))}


def _learning(texts: LabelledFile, learnt_from: list[str]) -> Learning:
    released, original, test = bags_of(learnt_from, texts.texts, texts.test)
    if texts.asked is None:
        return Learning(released, original, texts.numbers, texts.classes)
    return Learning(released, original, texts.numbers, texts.classes, test, texts.asked)


def _read(data: Path, reading: dict[str, Any]) -> LabelledFile:
    return _labelled(data, tuple(sorted(reading.items())))


@lru_cache(maxsize=1)
def _labelled(path: Path, options: tuple[tuple[str, Any], ...]) -> LabelledFile:
    """The file, with the fixed rule that says what is learnt from and what is tested."""
    asked_for = dict(options)
    field, most, test = asked_for.pop("label_field"), asked_for.pop("most"), asked_for.pop("test")
    texts, values = _records(path, field, asked_for)
    labels = labels_of(values, field)
    rows, numbers, classes = labels.rows, labels.numbers, len(labels.names)
    if test is not None:
        clear_texts, clear_values = _records(Path(test), field, asked_for)
        known = labels.numbers_of(clear_values)
        if not (known >= 0).any():
            raise BadInput("has no record with a label of the original", where=test)
        own = spread_rows(len(rows), most)
        tested = np.flatnonzero(known >= 0)
        test_texts = [clear_texts[i] for i in tested]
        return LabelledFile([texts[i] for i in rows[own]], numbers[own], classes, test_texts, known[tested])
    if len(rows) <= WHOLE_FOLDS:
        return LabelledFile([texts[i] for i in rows], numbers, classes, [], None)
    fold = folds_of(numbers)
    learnt, tested = np.flatnonzero(fold), np.flatnonzero(fold == 0)[:WHOLE_FOLDS]
    learnt = learnt[spread_rows(len(learnt), most)]
    test_texts = [texts[i] for i in rows[tested]]
    return LabelledFile([texts[i] for i in rows[learnt]], numbers[learnt], classes, test_texts, numbers[tested])


def _records(path: Path, field: str, options: dict[str, Any]) -> tuple[list[str], list[object]]:
    records = list(readers.open_reader(path, fields=(field,), columns=(), **options))
    return [record.text for record in records], [record.fields[field] for record in records]
