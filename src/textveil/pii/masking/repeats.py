"""Count what was recognised in one place and stands unmasked in another.

A value that a recogniser finds once ("Dr Karola Winter") and misses elsewhere ("karola winter asked again") undoes the mask.
The values of all documents are remembered as the words they are made of, and looked for, in any case, as a run of whole
words in the text that was left. Values of fewer than four letters and digits are not looked for ("47", "Bo"): they stand
in too many texts for other reasons.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from textveil.text.spans import Span
from textveil.text.tokens import words

SHORTEST = 4


class RepeatCounter:
    """Values that were recognised, by their first word.

    >>> counter = RepeatCounter()
    >>> counter.add_values(["Karola Winter"])
    >>> counter.count("karola winter asked, and [PERSON] knew KAROLA", [])
    1
    """

    def __init__(self) -> None:
        self._runs: dict[str, set[tuple[str, ...]]] = defaultdict(set)

    def add(self, text: str, spans: Iterable[Span]) -> None:
        """Remember what was recognised in a text."""
        self.add_values(text[s.start : s.end] for s in spans)

    def add_values(self, values: Iterable[str]) -> None:
        for value in values:
            run = tuple(words(value.casefold()))
            if sum(map(len, run)) >= SHORTEST:
                self._runs[run[0]].add(run)

    def count(self, text: str, spans: Sequence[Span]) -> int:
        """How many recognised values stand in what the spans leave of a text."""
        total, last = 0, 0
        for start, end in [*((s.start, s.end) for s in spans), (len(text), len(text))]:
            total += self._count_in(text[last:start])
            last = end
        return total

    def _count_in(self, text: str) -> int:
        listed = words(text.casefold())
        if self._runs.keys().isdisjoint(listed):
            return 0
        total, place = 0, 0
        while place < len(listed):
            run = self._longest(listed, place)
            total, place = total + bool(run), place + max(run, 1)
        return total

    def _longest(self, listed: list[str], place: int) -> int:
        runs = self._runs.get(listed[place], ())
        return max((len(run) for run in runs if tuple(listed[place : place + len(run)]) == run), default=0)


__all__ = ["SHORTEST", "RepeatCounter"]
