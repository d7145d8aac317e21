"""Marked documents as chains of tags: what every tagger learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textveil.core.errors import BadInput
from textveil.pii.bio import tags_of
from textveil.pii.tagger.crf import Chains
from textveil.pii.tagger.features import Batch, WordHashes, chain_bounds, rows_of, tokens_of
from textveil.text.spans import Span


@dataclass(frozen=True)
class CutDocument:
    """A text cut into tokens and chains."""

    words: list[str]
    places: np.ndarray  # start and end of each token
    bounds: list[int]

    @classmethod
    def of(cls, text: str) -> CutDocument:
        words, places = tokens_of(text)
        return cls(words, places, chain_bounds(text, places))

    @property
    def head(self) -> int:
        """Tokens of the first line, where there are more lines: a title, a name."""
        return self.bounds[1] if len(self.bounds) > 2 else 0

    def tags(self, spans: Sequence[Span]) -> tuple[list[str], list[float]]:
        """The tag of each token, and its confidence: the score of its span, 1 outside of spans."""
        tags = tags_of([(int(a), int(b)) for a, b in self.places], spans)
        trust = np.ones(len(tags))
        for span in spans:
            inside = (self.places[:, 0] < span.end) & (self.places[:, 1] > span.start) if len(tags) else []
            trust[inside] = min(max(span.score, 0.05), 1.0)
        return tags, trust.tolist()


def tag_names(spans: Sequence[Sequence[Span]]) -> tuple[str, ...]:
    """O, and B- and I- of every label, in order."""
    labels = sorted({span.label for own in spans for span in own})
    if not labels:
        raise BadInput("no span is marked in the training documents", possible="documents with marked spans")
    return ("O", *(f"{mark}-{label}" for label in labels for mark in "BI"))


def chains_of(
    texts: Sequence[str], spans: Sequence[Sequence[Span]], tags: Sequence[str], bits: int, noise: str, outside: float
) -> Chains:
    """All documents as one row of chains. `noise`: "channel" uses confidences, "ignore" takes every label for right."""
    number = {tag: n for n, tag in enumerate(tags)}
    cuts, labels, trust = [CutDocument.of(text) for text in texts], list[int](), list[float]()
    for cut, own in zip(cuts, spans, strict=True):
        own_tags, own_trust = cut.tags(own)
        labels += [number[tag] for tag in own_tags]
        trust += [t if tag != "O" else outside for t, tag in zip(own_trust, own_tags, strict=True)]
    sure = np.ones(len(trust)) if noise == "ignore" else np.array(trust)
    batch = batch_of(cuts)
    rows = rows_of(batch, WordHashes(), bits)
    return Chains(rows, np.array(batch.bounds, np.int64), np.array(labels, np.int64), sure)


def batch_of(cuts: Sequence[CutDocument]) -> Batch:
    """Several documents, to be hashed at once."""
    words, bounds, heads, last = list[str](), [0], list[tuple[int, int, int]](), 0
    for cut in cuts:
        if cut.head:
            heads.append((last, last + cut.head, last + len(cut.words)))
        bounds += [last + b for b in cut.bounds[1:]]
        words += cut.words
        last += len(cut.words)
    return Batch(words, bounds, heads)


__all__ = ["CutDocument", "batch_of", "chains_of", "tag_names"]
