"""Marks: what a reviewer has said about the spans of one document.

    proposed     found by a matcher or recogniser, nobody has looked yet
    confirmed    right as it is (moved or relabelled marks are confirmed ones)
    rejected     wrong
    added        found by the reviewer

What a reviewed document holds is its confirmed and added marks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from textveil.core import BadInput
from textveil.text.spans import Span, without_overlaps


class Status(StrEnum):
    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    ADDED = "added"


KEPT = (Status.CONFIRMED, Status.ADDED)


@dataclass(frozen=True)
class Mark:
    """A span with its status.

    >>> mark = Mark(Span(0, 4, "PERSON", 0.8, "model"), Status.CONFIRMED)
    >>> Mark.from_json(mark.to_json(), 10) == mark
    True
    """

    span: Span
    status: Status = Status.PROPOSED

    def to_json(self) -> dict[str, Any]:
        return {**self.span.to_json(), "status": str(self.status)}

    @classmethod
    def from_json(cls, row: Any, length: int) -> Mark:
        """A mark that a page or a file sent: checked against the length of its text, never trusted."""
        try:
            start, end, label = row["start"], row["end"], row["label"]
            status, score = Status(row.get("status", "proposed")), float(row.get("score", 1.0))
            rule = str(row.get("rule", ""))
        except (TypeError, KeyError, ValueError, AttributeError):
            raise BadInput("a mark has start, end, label and status") from None
        if not (_is_place(start) and _is_place(end) and 0 <= start < end <= length):
            raise BadInput(f"a mark does not fit its text of {length} characters")
        if not (isinstance(label, str) and 0 < len(label) <= 64 and 0 <= score <= 1):
            raise BadInput("a mark has a label of 1 to 64 characters and a score from 0 to 1")
        return cls(Span(start, end, label, score, rule), status)


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def proposals(spans: Iterable[Span]) -> list[Mark]:
    """What a reviewer sees first; of spans that overlap, the surest."""
    return [Mark(span) for span in without_overlaps(spans)]


def kept_spans(marks: Iterable[Mark]) -> list[Span]:
    """The spans that a reviewer let stand."""
    return sorted(mark.span for mark in marks if mark.status in KEPT)


def check_apart(marks: Iterable[Mark]) -> None:
    """Refuse marks that overlap: a character has one label. Rejected ones do not count."""
    standing = sorted(mark.span for mark in marks if mark.status is not Status.REJECTED)
    for left, right in pairwise(standing):
        if left.overlaps(right):
            raise BadInput(f"two marks overlap, from {right.start} to {min(left.end, right.end)}")


__all__ = ["KEPT", "Mark", "Status", "check_apart", "kept_spans", "proposals"]
