"""Public facts about data that has not been touched yet.

An event may be computed from a Shape and nothing else. Everything here must be public or declared: caps, a public
vocabulary, an expected batch size, a rounded number of documents. What is taken from private data must be charged.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Shape:
    """Declared sizes; None means not declared.

    >>> Shape(max_words=200).max_words
    200
    """

    units: int | None = None  # declared or rounded number of units
    max_words: int | None = None  # cap of words per document
    cells: int | None = None  # released numbers per document
    vocabulary: int | None = None
    batch: int | None = None  # expected batch size
    steps: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if v is not None}
