"""Recognisers that learn from automatic labels, tested on automatic, on hand-made and on gold ones.

Labels to learn from:

    printed    as they are, sentences with an entity only
    repaired   marks on whole phrases (pii.annotate.repair), and some sentences without an entity
    said       these, and some biographies without records, marked by fixed phrases (said.py)

Readings of one trained model, each on whole passages:

    bare       its tags
    spread     and the other mentions of the names that it found (spread.py)
    phrases    what the fixed phrases mark, then its tags where they mark nothing, then spread

Ours are the labels and the reading with the largest sum of two strict F1: on sentences with an entity and on all text of
the marked articles, which are no part of the gold passages. A tenth of the automatic rows that is neither trained nor tested
on stands beside it (`development`); its labels miss what no infobox says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textveil.pii.bio import OUTSIDE, runs
from textveil.pii.scores.intervals import sums_of
from textveil.pii.scores.rewards import Scheme

from .data import LABELS, Sentence, automatic, documents, manual
from .development import article_sentences
from .models import MODELS, Tag
from .said import said_sentences, said_tags
from .scored import scored
from .spread import spread

EMPTY_SHARE = 3  # of ten sentences without an entity, beside those with one


def recogniser(
    data: Path,
    *,
    model: str,
    labels: str,
    biographies: int,
    epochs: int,
    batch: int,
    rate: float,
    pieces: int,
    seed: int,
) -> dict[str, Any]:
    """Table 5: a recogniser trained on automatic labels, and its scores by reading and test."""
    examples = training_sentences(data, labels, biographies)
    learnt = [s.example(True) for s in examples]
    tag = MODELS[model](data, learnt, epochs=epochs, batch=batch, rate=rate, pieces=pieces, seed=seed)
    tests = test_sentences(data)
    distinct = {(s.document, s.number): s for sentences in tests.values() for s in sentences}
    read = readings(list(distinct.values()), tag)
    return {
        "examples": len(examples),
        **{name: {test: _tested(sentences, tags) for test, sentences in tests.items()} for name, tags in read.items()},
    }


def training_sentences(data: Path, labels: str, biographies: int) -> list[Sentence]:
    """What a recogniser learns from."""
    rows = automatic(data, repair=labels != "printed").train
    entities = [s for s in rows if s.has_entity]
    if labels == "printed":
        return entities
    others = [s for s in rows if not s.has_entity]
    learnt = [*entities, *others[: len(entities) * EMPTY_SHARE // 10]]
    return [*learnt, *said_sentences(data, biographies)] if labels == "said" else learnt


def test_sentences(data: Path) -> dict[str, list[Sentence]]:
    """The tests by name. All of a passage is read, whatever of it is scored."""
    parts, gold = automatic(data, repair=False), manual(data)
    development = automatic(data, repair=True).development
    return {
        "articles": [s for s in article_sentences(data) if s.has_entity],
        "articles_all": list(article_sentences(data)),
        "development": [s for s in development if s.has_entity],
        "automatic": [s for s in parts.test if s.has_entity],
        "manual": [s for s in gold if s.has_entity],
        "persons": [s for s in gold if s.of_person],
        "everything": list(gold),
    }


def readings(sentences: Sequence[Sentence], tag: Tag) -> dict[str, dict[tuple[str, int], list[str]]]:
    """The tags of every sentence, by reading."""
    inputs = [s.example(True)[0] for s in sentences]
    bare = [out[len(words) - len(s.words) :] for out, words, s in zip(tag(inputs), inputs, sentences, strict=True)]
    joined = [_joined(said_tags(s), own) for s, own in zip(sentences, bare, strict=True)]
    read = {"bare": bare, "spread": _spread(sentences, bare), "phrases": _spread(sentences, joined)}
    keys = [(s.document, s.number) for s in sentences]
    return {name: dict(zip(keys, tags, strict=True)) for name, tags in read.items()}


def _joined(first: list[str], second: list[str]) -> list[str]:
    """The spans of the first, and those of the second where the first has none."""
    tags = list(first)
    for start, last, label in runs(second, repair=True):
        if set(tags[start : last + 1]) == {OUTSIDE}:
            tags[start : last + 1] = [f"B-{label}", *[f"I-{label}"] * (last - start)]
    return tags


def _spread(sentences: Sequence[Sentence], tags: Sequence[list[str]]) -> list[list[str]]:
    passages = defaultdict(list)
    for number, sentence in enumerate(sentences):
        passages[sentence.document].append(number)
    wide = list(tags)
    for numbers in passages.values():
        words = [sentences[n].words for n in numbers]
        for number, new in zip(
            numbers, spread(words, [tags[n] for n in numbers], sentences[numbers[0]].title), strict=True
        ):
            wide[number] = new
    return wide


def _tested(sentences: Sequence[Sentence], tags: dict[tuple[str, int], list[str]]) -> dict[str, Any]:
    compared = documents(sentences, [tags[s.document, s.number] for s in sentences])
    by_label = {label: scored(sums_of(compared, Scheme.PAPER, label)) for label in LABELS}
    return {**scored(sums_of(compared, Scheme.PAPER)), "labels": by_label, "documents": len(compared)}


__all__ = ["readings", "recogniser", "training_sentences"]
