"""Labelled collections for the study of use: texts to learn from, clear texts to test on.

A row is tested on if it stands in the collection's own test file, or else if the hash of its text says so: so a collection is
divided in the same way on every machine, and equal texts stand on one side.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.noise.source import seeded

TESTED = 2_000  # clear texts, at most
LEAST_OF_A_LABEL = 60
LEARNT_FROM = ("tweets", "sentences", "stars", "notes", "newsgroup-families", "newsgroups")
FORESEEN = ("complaints", "reviews")  # never learnt from: what the forecast is judged by

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """Where a collection lies and what its texts and labels are."""

    train: str
    test: str | None
    text: Callable[[Row], str]
    label: Callable[[Row], str]

    @property
    def folder(self) -> str:
        return self.train.partition("/")[0]


def _field(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def _family(row: Row) -> str:
    return str(row["label"]).partition(".")[0]


def _five_stars(row: Row) -> str:
    return "five" if row["rating"] == 5 else "fewer"


_NEWS = ("newsgroups20/train.jsonl.gz", "newsgroups20/test_a.jsonl.gz", _field("text"))
_COMPLAINTS = ("cfpb-complaints/train.jsonl.gz", "cfpb-complaints/dev.jsonl.gz", _field("text"))
SOURCES = {
    "newsgroups": Source(*_NEWS, _field("label")),
    "newsgroup-families": Source(*_NEWS, _family),
    "stars": Source("amazon_reviews/train.jsonl.gz", None, _field("text"), _five_stars),
    "tweets": Source("disaster_tweets/train.jsonl.gz", None, _field("text"), _field("target")),
    "sentences": Source("glue/SST-2/train.jsonl.gz", None, _field("sentence"), _field("label")),
    "notes": Source("clinical-mtsamples/notes.jsonl.gz", None, _field("text"), lambda row: row["specialties"][0]),
    "complaints": Source(*_COMPLAINTS, _field("category")),
    "reviews": Source("imdb/train.jsonl.gz", "imdb/dev.jsonl.gz", _field("text"), _field("label")),
}


class Collection(NamedTuple):
    """Texts with class numbers."""

    train: list[str]
    numbers: np.ndarray
    test: list[str]
    asked: np.ndarray
    classes: int


@lru_cache(maxsize=2)
def collection(data: Path, name: str, documents: int) -> Collection:
    """So many texts to learn from, in an order of their own, and at most 2,000 to test on."""
    source = SOURCES[name]
    rows = [(source.text(row), source.label(row)) for row in _read(data / source.train)]
    if source.test is None:
        train, test = ([pair for pair in rows if _is_tested(pair[0]) == side] for side in (False, True))
    else:
        train, test = rows, [(source.text(row), source.label(row)) for row in _read(data / source.test)]
    labels = sorted(label for label, count in Counter(pair[1] for pair in train).items() if count >= LEAST_OF_A_LABEL)
    place = {label: number for number, label in enumerate(labels)}
    train, test = ([pair for pair in side if pair[1] in place] for side in (train, test))
    train, test = _some(train, documents), _some(test, TESTED)
    numbers, asked = (np.array([place[label] for _, label in side], np.int64) for side in (train, test))
    return Collection([t for t, _ in train], numbers, [t for t, _ in test], asked, len(labels))


def _some(rows: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    return [rows[i] for i in seeded(0).permutation(len(rows))[:most]]


def _is_tested(text: str) -> bool:
    return hashlib.blake2b(text.encode(), digest_size=2).digest()[0] < 48  # three of sixteen


def _read(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
