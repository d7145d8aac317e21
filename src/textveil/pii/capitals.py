"""Names by their capitals, and written dates: a recogniser that knows no names, and has no part in common with the patterns.

A run of two capitalised words or more, or a single one inside a sentence, that is no place, month, or word such as "After"
(`annotate.phrases`). It finds most names of English text, and much that is none: right for a search that must not miss, as
of whoever looks for what a mask left. Scores say so: 0.6 for runs, 0.4 for single words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from textveil.pii.annotate.phrases import Phrases, Run
from textveil.pii.annotate.repair import DATE
from textveil.pii.annotate.wordlists import is_place_name
from textveil.text.spans import Span, without_overlaps

RUN_SCORE, SINGLE_SCORE, DATE_SCORE = 0.6, 0.4, 0.8
_MASKS = re.compile(r"\[[A-Z_]+(?:_[0-9a-f]{12})?\]")


class CapitalNames:
    """Finds runs of capitalised words and written dates.

    >>> text = "Yesterday Anna Meyer came from London, born 3 May 1960. [PERSON] knew Bo."
    >>> [(s.of(text), s.label) for s in CapitalNames().find([text])[0]]
    [('Anna Meyer', 'PERSON'), ('3 May 1960', 'DATE_TIME'), ('Bo', 'PERSON')]
    """

    name = "names"
    labels = ("DATE_TIME", "PERSON")

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text; what a mask has written is none."""
        return [self._find(text) for text in texts]

    def _find(self, text: str) -> list[Span]:
        masks = [m.span() for m in _MASKS.finditer(text)]
        dates = [Span(*m.span(), "DATE_TIME", DATE_SCORE, "date") for m in DATE.finditer(text) if not m[0].isdigit()]
        found = [*dates, *self._names(text)]
        return without_overlaps(s for s in found if not any(a < s.end and s.start < b for a, b in masks))

    @staticmethod
    def _names(text: str) -> Iterator[Span]:
        phrases = Phrases(text)
        starts = set(phrases.sentence_starts)
        for run in phrases.person_runs:
            if len(run.words) > 1 and run.start in starts and not _reads_as_name(run):
                run = Run(run.words[1:], run.end)
            if is_place_name(" ".join(run.folded)):
                continue
            if len(run.words) > 1:
                yield Span(run.start, run.end, "PERSON", RUN_SCORE, "capitals")
            elif run.start not in starts and len(run.words[0].text) > 1:
                yield Span(run.start, run.end, "PERSON", SINGLE_SCORE, "capital")


def _reads_as_name(run: Run) -> bool:
    """Whether the first word of a sentence belongs to the run: two words may be a name, of three the first rarely is not."""
    return len(run.words) == 2 or run.words[0].is_initial


__all__ = ["CapitalNames"]
