"""How much of a text the vectors cover: the language they are of, and the share of words outside their vocabulary.

The share is a statistic of the private text. It is told to whoever runs the command, before anything is charged, and goes
nowhere else: not into the release folder, not into the ledger, not onto the card.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from textveil.text import tokens
from textveil.words.mechanism import WordMechanism

MOST_WORDS = 200_000  # looked at, from the beginning of the file: enough for a share, and a survey stays quick
MUCH = 1 / 3
_DIGIT = re.compile(r"\d")


@dataclass
class Coverage:
    """Counts words of a text that is surveyed.

    >>> from textveil.text.vectors import from_arrays
    >>> from textveil.words import Laplace
    >>> coverage = Coverage(Laplace().fit(from_arrays(["der", "brief"], [[1.0], [2.0]]).in_language("german")))
    >>> coverage.add("Der Brief, der Anna half")
    >>> coverage.share, coverage.warning is not None
    (0.4, True)
    """

    mechanism: WordMechanism
    words: int = 0
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Take in one text."""
        if self.words >= MOST_WORDS:
            return
        written = tokens.words(text)
        self._counts.update(written)
        self.words += len(written)

    @property
    def outside(self) -> int:
        """How many of the words lie outside."""
        return sum(count for written, count in self._counts.items() if self._is_unknown(tokens.fold(written)))

    def _is_unknown(self, word: str) -> bool:
        if self.mechanism.kinds and _DIGIT.search(word):
            return False  # drawn within its kind
        return word not in self.mechanism.rows_ and word not in self.mechanism.kept_

    @property
    def share(self) -> float:
        return self.outside / self.words if self.words else 0.0

    @property
    def sentence(self) -> str:
        """What the vectors cover, and what they do not."""
        vectors = self.mechanism.vectors_
        language = vectors.language or "no language stated"
        looked_at = f"the first {self.words:,} words" if self.words >= MOST_WORDS else "the words"
        return (
            f"vectors: {vectors.name} ({language}, {len(vectors):,} words); {100 * self.share:.1f} % of {looked_at} of this "
            "text lie outside their vocabulary"
        )

    @property
    def warning(self) -> str | None:
        """What to do where much lies outside; None where little does."""
        if self.share <= MUCH:
            return None
        treated = (
            "all become one sign" if self.mechanism.oov == "token" else "are drawn from one point, whatever they are"
        )
        return (
            f"more than a third of the words of this text lie outside the vocabulary and {treated}. Is it written in another "
            "language? Vectors of its own language: textveil vectors build FILE -o OUT.tvv --language NAME"
        )
