"""What the adversary of a hashed model has: its table, and how text becomes slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textveil.attacks.exposure import Exposure, Labelled, Members, check_members
from textveil.attacks.hashed.table import TableView, Touched


@dataclass(frozen=True)
class TableSeen(Exposure):
    """The table, and terms that may have been in the training text, each with a label that its attack explains."""

    table: TableView
    candidates: Labelled
    known: Touched | None = None  # slots of text that the adversary has: all but the gaps
    retrain: Callable[..., Any] | None = None  # (term, label) -> its slots, and the adversary's own training in them
    truth: Members | None = None

    def __post_init__(self) -> None:
        check_members(self.truth, len(self.candidates))

    @property
    def terms(self) -> list[tuple[str, Any]]:
        """Each term with its label."""
        return list(zip(self.candidates.texts, self.candidates.labels, strict=True))
