"""How much of what a person marked is masked: recall on a reviewed (or public) sample, with exact intervals.

A marked value counts as found when every character of it lies under masks, whatever kind they say; half a name that stands
is a miss. A document is clean when nothing marked in it was missed: one miss identifies. Intervals are Clopper and
Pearson's at 95 %, for values (taken as independent, which values of one document are not quite) and for documents.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.core.errors import BadInput
from textveil.pii.recognisers import Recognisers
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.formats.objects import objects
from textveil.text.spans import Span


@dataclass(frozen=True)
class MeasuredRecall:
    """Found and marked values by label, and clean documents of all."""

    file: str
    found: dict[str, int]
    marked: dict[str, int]
    clean: int
    documents: int

    def lines(self) -> tuple[str, ...]:
        """In words, for a card."""
        hits, tries = sum(self.found.values()), sum(self.marked.values())
        rows = [f"recall on {self.file}: {_share(hits, tries)} of all marked values"]
        rows += [f"{label}: {_share(self.found.get(label, 0), self.marked[label])}" for label in sorted(self.marked)]
        return (*rows, f"documents without a miss: {_share(self.clean, self.documents)}")

    def to_json(self) -> dict[str, Any]:
        hits, tries = sum(self.found.values()), sum(self.marked.values())
        low, high = interval(hits, tries)
        return {"file": self.file, "found": hits, "marked": tries, "recall": hits / tries, "interval": [low, high]}


def measure_recall(recogniser: Recognisers, path: Path) -> MeasuredRecall:
    """The recall of recognisers on a file of texts with their marks (what `pii review --export jsonl` writes)."""
    check_readable(path)
    found, marked, clean, documents = Counter[str](), Counter[str](), 0, 0
    for row in objects(Lines(path)):
        text, marks = _marked(row, path)
        masks = recogniser.find([text])[0]
        missed = 0
        for mark in marks:
            covered = is_covered(mark, masks, text)
            marked[mark.label] += 1
            found[mark.label] += covered
            missed += not covered
        clean, documents = clean + (missed == 0), documents + 1
    if not marked:
        raise BadInput("holds no marked value", where=path, possible="what `pii review --export jsonl` writes")
    return MeasuredRecall(path.name, dict(found), dict(marked), clean, documents)


def is_covered(mark: Span, masks: list[Span], text: str) -> bool:
    """Whether masks lie over every character of a mark that is no blank.

    >>> is_covered(Span(0, 9, "PERSON"), [Span(0, 4, "A"), Span(5, 9, "B")], "Anna Bohm")
    True
    """
    open_places = {k for k in range(mark.start, mark.end) if not text[k].isspace()}
    for mask in masks:
        open_places.difference_update(range(mask.start, mask.end))
    return not open_places


def interval(hits: int, tries: int) -> tuple[float, float]:
    """Clopper and Pearson's interval at 95 %."""
    low, high = Evidence("pii.recall", "recall", hits / tries, 0.0, hits, tries).interval()
    return low, high


def _share(hits: int, tries: int) -> str:
    low, high = interval(hits, tries)
    return f"{100 * hits / tries:.1f} % [{100 * low:.1f} %, {100 * high:.1f} %] ({hits:,} of {tries:,})"


def _marked(row: dict[str, Any], path: Path) -> tuple[str, list[Span]]:
    try:
        text = row["text"]
        marks = [Span(int(s["start"]), int(s["end"]), str(s.get("label", s.get("type")))) for s in row["spans"]]
        if not isinstance(text, str) or any(not 0 <= m.start < m.end <= len(text) for m in marks):
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(
            "a reviewed document has a text and spans inside of it", where=path,
            possible="what `pii review --export jsonl` writes",
        ) from None  # fmt: skip
    return text, marks


__all__ = ["MeasuredRecall", "interval", "is_covered", "measure_recall"]
