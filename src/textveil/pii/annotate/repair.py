"""Repair of automatic labels before training: noisy marks are put on the phrases they lie in, or taken away.

A matcher that marks word by word leaves "February" of "2 February 1952", "Prescott" of "Prescott Sheldon Bush", and
numbers as names. Nothing is added that no mark touches:

    dates    a mark goes over the whole date it lies in; one that lies in no date goes, and one that lies in a bare year
             without "born" before it
    people   a mark goes over the run of capitalised words it lies in; one that touches none, or a single word in a sentence
             without any word of kinship, goes

`repaired` also says whether any mark was taken away: such a sentence may hold what a wrong mark meant, and a trainer
may leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from textveil.pii.spans import Span, without_overlaps

from .phrases import Phrases
from .wordlists import CUES, MONTHS

_MONTH = r"(?:" + "|".join(MONTHS) + r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?)"
DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\s*,?\s*\d{{3,4}}\b|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\s*,?\s*\d{{3,4}}\b"
    rf"|\b{_MONTH}\s+\d{{4}}\b|\b\d{{4}}\b",
    re.IGNORECASE,
)
_BORN = re.compile(r"\bborn\b[^.;]{0,40}$|\(\s*$", re.IGNORECASE)
_KIN = CUES["PR"] | CUES["SP"] | CUES["CH"]


def repaired(text: str, spans: Sequence[Span], dates: frozenset[str] = frozenset({"BD"})) -> tuple[list[Span], bool]:
    """The spans on whole phrases, and whether a span was taken away.

    >>> text = "Ada (born 10 December 1815) was a daughter of Lord Byron in 1991."
    >>> spans = [Span(13, 21, "BD"), Span(51, 56, "PR"), Span(60, 64, "SP")]
    >>> [(s.of(text), s.label) for s in repaired(text, spans)[0]]
    [('10 December 1815', 'BD'), ('Byron', 'PR')]
    """
    phrases = Phrases(text)
    found_dates = [m.span() for m in DATE.finditer(text)]
    has_kin = bool(_KIN & {word.folded for word in phrases.words})
    kept: list[Span] = []
    for span in spans:
        whole = _whole_date(text, span, found_dates) if span.label in dates else _whole_name(phrases, span, has_kin)
        if whole is not None:
            kept.append(Span(*whole, span.label, span.score, span.rule))
    distinct = without_overlaps(dict.fromkeys(kept))
    return distinct, len(kept) < len(spans)


def _whole_date(text: str, span: Span, dates: list[tuple[int, int]]) -> tuple[int, int] | None:
    for start, end in dates:
        if start < span.end and span.start < end:
            is_year = text[start:end].isdigit()
            return None if is_year and not _BORN.search(text[:start]) else (start, end)
    return None


def _whole_name(phrases: Phrases, span: Span, has_kin: bool) -> tuple[int, int] | None:
    for run in phrases.person_runs:
        if run.start < span.end and span.start < run.end:
            if len(run.words) == 1 and not has_kin:
                return None
            return run.start, run.end
    return None


__all__ = ["DATE", "repaired"]
