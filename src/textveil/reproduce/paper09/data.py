"""Sentences of paper 09's stand-ins: automatic labels to train on, revised Re-DocRED passages as the manual test.

A sentence is its words and tags. With the title given, the title's words and a bar stand before it: the task is about
the person that a page is about. Rows of automatic labels do not say their page, so the subject's name is taken where
the row marks it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from textveil.pii.annotate.repair import repaired
from textveil.pii.bio import OUTSIDE, TaggedDocument, tags_of
from textveil.pii.scores.intervals import DocumentSpans
from textveil.pii.spans import Span

WIKIPII = "wikipii"
LABELS = ("BD", "PR", "SP", "CH")
BAR = "|"
TRAIN, DEVELOPMENT, TEST = range(3)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document: words, tags, and the title's words."""

    document: str
    number: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    title: tuple[str, ...] = ()
    of_person: bool = True

    @property
    def has_entity(self) -> bool:
        return any(tag != OUTSIDE for tag in self.tags)

    def example(self, with_title: bool) -> tuple[list[str], list[str]]:
        """What a tagger is trained on."""
        before = [*self.title, BAR] if with_title and self.title else []
        return [*before, *self.words], [OUTSIDE] * len(before) + list(self.tags)


def rows(data: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(data / WIKIPII / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


class AutomaticRows(NamedTuple):
    """Automatic labels in three parts, by a hash of the row's id: a tenth to choose settings on, a tenth to test on."""

    train: tuple[Sentence, ...]
    development: tuple[Sentence, ...]
    test: tuple[Sentence, ...]


@lru_cache(maxsize=4)
def automatic(data: Path, *, repair: bool) -> AutomaticRows:
    """The rows with their automatic labels.

    With `repair`, labels are put on whole phrases, and sentences that lost a mark are left out; not in the test.
    """
    parts: tuple[list[Sentence], ...] = ([], [], [])
    for row in rows(data, "auto_annotations"):
        sentence = Sentence(row["id"], 0, tuple(row["tokens"]), tuple(row["bio"]), _subject(row))
        part = {0: TEST, 1: DEVELOPMENT}.get(crc32(row["id"].encode()) % 10, TRAIN)
        if repair and part != TEST and sentence.has_entity:
            tags, lost = _repaired(sentence)
            if lost:
                continue
            sentence = Sentence(sentence.document, 0, sentence.words, tags, sentence.title)
        parts[part].append(sentence)
    return AutomaticRows(*map(tuple, parts))


def _subject(row: dict[str, Any]) -> tuple[str, ...]:
    names = [span["text"] for span in row["spans"] if span["type"] == "NAME"]
    return tuple(max(names, key=len).split()) if names else ()


def _repaired(sentence: Sentence) -> tuple[tuple[str, ...], bool]:
    document = TaggedDocument(list(sentence.words), list(sentence.tags))
    spans, lost = repaired(document.text, document.spans(repair=True))
    return tuple(tags_of(_places(sentence.words), spans)), lost


@lru_cache(maxsize=2)
def manual(data: Path) -> tuple[Sentence, ...]:
    """All sentences of the gold passages, tags of the four labels; what is about the subject only."""
    sentences = []
    for row in rows(data, "gold_redocred"):
        edges = [*row["sentence_starts"], len(row["tokens"])]
        title = tuple(row["title"].split(" (")[0].split())
        for number, (first, last) in enumerate(pairwise(edges)):
            tags = tuple(tag if tag[2:] in LABELS else OUTSIDE for tag in row["bio_subject"][first:last])
            words = tuple(row["tokens"][first:last])
            sentences.append(Sentence(row["id"], number, words, tags, title, row["subject_is_person"]))
    return tuple(sentences)


def education_count(data: Path) -> int:
    """Gold spans of schools, which no automatic row teaches."""
    return sum(tag == "B-ED" for row in rows(data, "gold_redocred") for tag in row["bio_subject"])


def documents(sentences: Iterable[Sentence], tagged: Iterable[list[str]]) -> list[DocumentSpans]:
    """Gold and found spans by document; offsets count words, sentences stand one after another."""
    by_name: dict[str, tuple[list[Span], list[Span], int]] = {}
    for sentence, tags in zip(sentences, tagged, strict=True):
        gold, found, at = by_name.get(sentence.document, ([], [], 0))
        gold += _spans(list(sentence.tags), at)
        found += _spans(tags, at)
        by_name[sentence.document] = (gold, found, at + len(sentence.words))
    return [DocumentSpans(name, gold, found) for name, (gold, found, _) in by_name.items()]


def _spans(tags: list[str], at: int) -> list[Span]:
    from textveil.pii.bio import runs

    return [Span(at + first, at + last + 1, label) for first, last, label in runs(tags, repair=True)]


def _places(words: Iterable[str]) -> list[tuple[int, int]]:
    places, start = [], 0
    for word in words:
        places.append((start, start + len(word)))
        start += len(word) + 1
    return places
