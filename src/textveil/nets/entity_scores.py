"""Entities in tag sequences, and how well they are found: the conventions of conlleval and of seqeval's default mode.

An entity starts at B- and S-, at any other tag after O, E- or S-, and wherever the type changes; it ends before B-, S- and O,
after E- and S-, and wherever the type changes. So I- may start an entity, which is how an untrained tagger's output is read.
An entity is right if its type, its first and its last token are. Precision, recall and F1 count all entities alike (micro).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Tags = Sequence[Sequence[str]]


class Entity(NamedTuple):
    type: str
    first: int
    last: int


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one sentence.

    >>> entities(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [Entity(type='PER', first=0, last=1), Entity(type='LOC', first=3, last=3), Entity(type='LOC', first=4, last=4)]
    """
    found, begin = [], 0
    before, type_before = "O", ""
    for place, tag in enumerate([*tags, "O"]):
        mark, kind = tag[:1] or "O", tag[1:].split("-", 1)[-1] or "_"
        if _ends(before, mark, type_before, kind):
            found.append(Entity(type_before, begin, place - 1))
        if _starts(before, mark, type_before, kind):
            begin = place
        before, type_before = mark, kind
    return found


def _ends(before: str, mark: str, type_before: str, kind: str) -> bool:
    if before in "ES":
        return True
    return (before in "BI" and mark in "BSO") or (before not in "O." and type_before != kind)


def _starts(before: str, mark: str, type_before: str, kind: str) -> bool:
    if mark in "BS":
        return True
    return (mark in "EI" and before in "ESO") or (mark not in "O." and type_before != kind)


@dataclass(frozen=True)
class EntityScore:
    """How many entities there are, how many were said, how many of these are right."""

    gold: int
    said: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.gold + self.said) if self.gold + self.said else 0.0


def entity_score(gold: Tags, said: Tags) -> EntityScore:
    """Compare two lists of tagged sentences.

    >>> entity_score([["B-PER", "I-PER", "O"]], [["B-PER", "I-PER", "B-LOC"]])
    EntityScore(gold=1, said=2, right=1)
    """
    pairs = [(set(entities(g)), set(entities(s))) for g, s in zip(gold, said, strict=True)]
    return EntityScore(sum(len(g) for g, _ in pairs), sum(len(s) for _, s in pairs), sum(len(g & s) for g, s in pairs))


@dataclass(frozen=True)
class TokenScore:
    """Per-token figures averaged over tags, each weighted by how often it is the gold tag (O included)."""

    precision: float
    recall: float
    f1: float


def token_score(gold: Tags, said: Tags) -> TokenScore:
    """The score that some papers print: a model that only says O gets most of it.

    >>> token_score([["O", "O", "O", "B-PER"]], [["O", "O", "O", "O"]]).f1.__round__(3)
    0.643
    """
    flat_gold = np.array([t for s in gold for t in s])
    flat_said = np.array([t for s in said for t in s])
    total = np.zeros(3)
    for tag in np.unique(flat_gold):
        is_gold, is_said = flat_gold == tag, flat_said == tag
        hit = float((is_gold & is_said).sum())
        precision = hit / is_said.sum() if is_said.any() else 0.0
        recall = hit / is_gold.sum()
        f1 = 2 * precision * recall / (precision + recall) if hit else 0.0
        total += is_gold.sum() * np.array([precision, recall, f1])
    return TokenScore(*(total / max(1, len(flat_gold))).tolist())


def all_outside(gold: Tags) -> list[list[str]]:
    """The baseline that never finds anything."""
    return [["O"] * len(sentence) for sentence in gold]
