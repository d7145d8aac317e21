"""Paper 07: the texts. Private: clinical notes, cut into examples of 16 words. Public: film reviews; PubMed sentences
without tags.

The target task is entity extraction on sentences of PubMed abstracts; the sentences that stand for public biomedical
text come from other files than those of the task's folds.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from textveil.noise.source import seeded
from textveil.training.vocabulary_words import Words

NOTES, BLOGS, REVIEWS, CHEMICALS, DISEASES = (
    "clinical-mtsamples",
    "user-blogs",
    "imdb",
    "ner-bc5cdr",
    "ner-ncbi-disease",
)
WORDS_AN_EXAMPLE = 16
Sentence = tuple[list[str], list[str]]  # words and tags


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


@lru_cache(maxsize=1)
def notes(data: Path) -> list[list[str]]:
    """The private examples, as folded words."""
    split = Words()
    return [part for row in _rows(data / NOTES / "notes.jsonl.gz") for part in cut(split(row["text"]))]


@lru_cache(maxsize=1)
def public_text(data: Path, most: int, seed: int) -> list[list[str]]:
    """Examples of film reviews, at random."""
    split, found = Words(), list[list[str]]()
    for row in _rows(data / REVIEWS / "train.jsonl.gz"):
        found += cut(split(row["text"]))
        if len(found) >= 4 * most:
            break
    return [found[i] for i in seeded(seed).permutation(len(found))[:most]]


@lru_cache(maxsize=1)
def biomedical_text(data: Path, most: int, seed: int) -> list[list[str]]:
    """Examples of PubMed sentences that no fold tests or trains on (other files of both corpora)."""
    split, found = Words(), list[list[str]]()
    for name in (CHEMICALS, DISEASES):
        for file in ("dev.jsonl.gz", "test_a.jsonl.gz"):
            for row in _rows(data / name / file):
                found += cut(split(" ".join(row["tokens"])))
    return [found[i] for i in seeded(seed).permutation(len(found))[:most]]


def cut(words: list[str]) -> list[list[str]]:
    """Runs of 16 words; a rest of fewer than 4 is left out.

    >>> [len(part) for part in cut(["w"] * 37)]
    [16, 16, 5]
    """
    parts = [words[i : i + WORDS_AN_EXAMPLE] for i in range(0, len(words), WORDS_AN_EXAMPLE)]
    return [part for part in parts if len(part) >= 4]


@lru_cache(maxsize=2)
def tagged(data: Path, task: str, most: int, seed: int) -> list[Sentence]:
    """Sentences of the target task."""
    rows = [(row["tokens"], row["tags"]) for row in _rows(data / task / "train.jsonl.gz") if len(row["tokens"]) >= 4]
    return [rows[i] for i in seeded(seed).permutation(len(rows))[:most]]


def blogs(data: Path, most: int) -> Iterator[list[str]]:
    """Sentences of blogs, as folded words."""
    split, count = Words(), 0
    for row in _rows(data / BLOGS / "users.jsonl.gz"):
        for text in row["sentences"]:
            if count == most:
                return
            count += 1
            yield split(text)
