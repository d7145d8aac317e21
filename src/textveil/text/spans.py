"""Spans: which characters of a text are what, how sure that is, and why.

Offsets count characters, the end is exclusive. A span explains itself: `rule` names what found it ("email", "record:spouse",
"model"), `score` says how sure it is, `context` lists the words beside it that counted.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, order=True)
class Span:
    """A labelled piece of a text.

    >>> Span(11, 15, "PERSON").of("My name is Anna.")
    'Anna'
    """

    start: int
    end: int
    label: str
    score: float = 1.0
    rule: str = ""
    context: tuple[str, ...] = ()

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    def to_json(self) -> dict[str, Any]:
        """Offsets and labels only: the words themselves are never written."""
        return {"start": self.start, "end": self.end, "label": self.label, "score": self.score, "rule": self.rule}


class Finder(Protocol):
    """Whatever finds spans: a pattern, a list of words, a trained tagger, a matcher of records."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text, in order of their start; they may overlap."""
        ...


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """The surest spans first, then the longest; what overlaps them is dropped.

    >>> [s.label for s in without_overlaps([Span(0, 4, "A", 0.6), Span(2, 9, "B", 0.9), Span(9, 12, "C", 0.1)])]
    ['B', 'C']
    """
    kept, starts = list[Span](), list[int]()  # in the order of the text; what is kept does not overlap
    for span in sorted(spans, key=lambda s: (-s.score, s.start - s.end, s.start, s.label)):
        place = bisect.bisect_right(starts, span.start)
        if (place and kept[place - 1].end > span.start) or (place < len(kept) and kept[place].start < span.end):
            continue
        kept.insert(place, span)
        starts.insert(place, span.start)
    return kept


__all__ = ["Finder", "Span", "without_overlaps"]
