"""Recognisers that are nets: like `recognisers.recogniser`, but each sentence is tagged once, since tagging costs most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textveil.pii.scores.intervals import sums_of
from textveil.pii.scores.rewards import Scheme

from .data import LABELS, Sentence, automatic, documents, first_sentences, manual
from .models import MODELS
from .scored import scored


def net_recogniser(
    data: Path, *, model: str, setting: str, epochs: int, batch: int, rate: float, pieces: int, seed: int
) -> dict[str, Any]:
    """Table 5 for a net: trained on automatic labels, tested on automatic and on manual ones."""
    train, test = automatic(data, repair=setting == "ours")
    entities = [s for s in train if s.has_entity]
    examples = entities
    if setting == "ours":
        others = [s for s in train if not s.has_entity]
        examples = [*entities, *others[: len(entities) * 3 // 10], *first_sentences(data, 500)]
    learnt = [s.example(True) for s in examples]
    tag = MODELS[model](data, learnt, epochs=epochs, batch=batch, rate=rate, pieces=pieces, seed=seed)
    gold = manual(data)
    marked = tuple(s for s in test if s.has_entity)
    tags = _tags(tag, [*marked, *gold])
    parts = {
        "automatic": marked,
        "manual": tuple(s for s in gold if s.has_entity),
        "persons": tuple(s for s in gold if s.of_person),
        "everything": gold,
    }
    return {**{name: _tested(sentences, tags) for name, sentences in parts.items()}, "examples": len(examples)}


def _tags(tag: Any, sentences: list[Sentence]) -> dict[tuple[str, int], list[str]]:
    inputs = [s.example(True)[0] for s in sentences]
    return {
        (s.document, s.number): out[len(words) - len(s.words) :]
        for out, words, s in zip(tag(inputs), inputs, sentences, strict=True)
    }


def _tested(sentences: tuple[Sentence, ...], tags: dict[tuple[str, int], list[str]]) -> dict[str, Any]:
    compared = documents(sentences, [tags[s.document, s.number] for s in sentences])
    by_label = {label: scored(sums_of(compared, Scheme.PAPER, label)) for label in LABELS}
    return {**scored(sums_of(compared, Scheme.PAPER)), "labels": by_label, "documents": len(compared)}
