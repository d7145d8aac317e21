"""Recognisers that learn from automatic labels, tested on automatic and on manual ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textveil.pii.scores.intervals import sums_of
from textveil.pii.scores.rewards import Scheme

from .data import LABELS, Sentence, automatic, documents, first_sentences, manual
from .models import MODELS
from .scored import scored


def recogniser(
    data: Path, *, model: str, setting: str, epochs: int, batch: int, rate: float, pieces: int, seed: int
) -> dict[str, Any]:
    """Table 5: a recogniser trained on automatic labels, tested on automatic and on manual ones.

    `printed`: the labels as they are, sentences with an entity only. `ours`: repaired labels, some sentences without an
    entity, and first sentences of WikiBio with birth dates that our matcher found.
    """
    train, test = automatic(data, repair=setting == "ours")
    entities = [s for s in train if s.has_entity]
    examples = entities
    if setting == "ours":
        others = [s for s in train if not s.has_entity]
        examples = [*entities, *others[: len(entities) * 3 // 10], *first_sentences(data, 500)]
    tag = MODELS[model](
        data,
        [s.example(True) for s in examples],
        epochs=epochs,
        batch=batch,
        rate=rate,
        pieces=pieces,
        seed=seed,
    )
    gold = manual(data)
    parts = {
        "automatic": [s for s in test if s.has_entity],
        "manual": [s for s in gold if s.has_entity],
        "persons": [s for s in gold if s.of_person],
        "everything": list(gold),
    }
    return {**{name: _tested(tag, sentences) for name, sentences in parts.items()}, "examples": len(examples)}


def _tested(tag: Any, sentences: list[Sentence]) -> dict[str, Any]:
    inputs = [s.example(True)[0] for s in sentences]
    tagged = [out[len(words) - len(s.words) :] for out, words, s in zip(tag(inputs), inputs, sentences, strict=True)]
    compared = documents(sentences, tagged)
    by_label = {label: scored(sums_of(compared, Scheme.PAPER, label)) for label in LABELS}
    return {**scored(sums_of(compared, Scheme.PAPER)), "labels": by_label, "documents": len(compared)}
