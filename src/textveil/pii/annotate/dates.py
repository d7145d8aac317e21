"""Dates: a value of a record in any written format, and its parts (month and year, the year alone).

A record's date is read once; what is looked for in the text is every way to write that very date, so that a date
glued to the next one ("5 September 194624 November 1991") is found too, and one that was cut into tokens ("April 3 , 1885").
A bare year is a weak mention: it counts where the words around it speak of the event. Numbers alone (3/4/1885) are read in
both orders of day and month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .wordlists import MONTHS

_YEAR = r"(?P<year>\d{3,4})"
_MONTH_NUMBER = {name[:k]: n for n, name in enumerate(MONTHS, 1) for k in (3, 4, len(name))}
_NAMED = r"(?P<month>" + "|".join(MONTHS) + r"|[a-z]{3,4})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_READ = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?:\s+of)?\s+{_NAMED}(?:\s*,)?\s+{_YEAR}",
        rf"\b{_NAMED}\s+{_DAY}(?:\s*,)?\s+{_YEAR}",
        r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b",
        r"\b(?P<day>\d{1,2})[./](?P<month>\d{1,2})[./](?P<year>\d{4})\b",
        rf"\b{_NAMED}(?:\s*,)?\s+{_YEAR}",
        rf"\b{_YEAR}",
    )
)
_BEFORE_CHRIST = re.compile(r"\d\s*(?:BC|BCE|B\.C\.)", re.IGNORECASE)


class DateForm(StrEnum):
    WHOLE = "whole"
    MONTH = "month and year"
    YEAR = "year"


@dataclass(frozen=True)
class RecordDate:
    """A date; month and day are 0 where the record does not say them."""

    year: int
    month: int = 0
    day: int = 0
    before_christ: bool = False


def parse_date(text: str) -> RecordDate | None:
    """A date as it was typed into a record.

    >>> parse_date("3 April 1885"), parse_date("384 BC")
    (RecordDate(year=1885, month=4, day=3, before_christ=False), RecordDate(year=384, month=0, day=0, before_christ=True))
    >>> parse_date("1885-04-03") == parse_date("April 3, 1885") == parse_date("3rd of Apr. 1885 (aged 96)")
    True
    """
    for pattern in _READ:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            month = _month(parts.get("month"))
            if parts.get("month") and not month:
                continue
            day = int(parts.get("day") or 0)
            if day > 31:
                continue
            return RecordDate(int(parts["year"]), month, day, bool(_BEFORE_CHRIST.search(text)))
    return None


def _month(text: str | None) -> int:
    if not text:
        return 0
    if text.isdigit():
        return int(text) if 1 <= int(text) <= 12 else 0
    return _MONTH_NUMBER.get(text.lower().rstrip("."), 0)


def mentions(date: RecordDate, text: str) -> Iterator[tuple[int, int, DateForm]]:
    """Places where the date or a part of it is written, with what stands there; longer ones first.

    >>> [form for *_, form in mentions(RecordDate(1885, 4, 3), "born april 3 , 1885 , or in 1885")]
    [<DateForm.WHOLE: 'whole'>, <DateForm.YEAR: 'year'>]
    """
    taken: list[tuple[int, int]] = []
    for form, pattern in _patterns(date):
        for found in re.finditer(pattern, text, re.IGNORECASE):
            place = found.span("date")
            if not any(place[0] < b and a < place[1] for a, b in taken):
                taken.append(place)
                yield *place, form


def _patterns(date: RecordDate) -> list[tuple[DateForm, str]]:
    """Regular expressions for this very date; none of them asks what follows a whole date."""
    era = r"(?:\s*(?:BC|BCE|B\.C\.))?" if date.before_christ else ""
    patterns: list[tuple[DateForm, str]] = []
    if date.month:
        name = rf"{MONTHS[date.month - 1][:3]}(?:{MONTHS[date.month - 1][3:]}|\.|{MONTHS[date.month - 1][3:4]}\.?)?"
        if date.day:
            day = rf"0?{date.day}(?:st|nd|rd|th)?"
            one, two = rf"0?{date.day}", rf"0?{date.month}"
            ways = [rf"{day}(?:\s+of)?\s+{name}(?:\s*,)?\s+{date.year}", rf"{name}\s+{day}(?:\s*,)?\s+{date.year}"]
            ways += [
                rf"{date.year}-{two}-{one}",
                rf"{one}[./-]{two}[./-]{date.year}",
                rf"{two}[./-]{one}[./-]{date.year}",
            ]
            patterns.append((DateForm.WHOLE, rf"(?<!\w)(?P<date>(?:{'|'.join(ways)}){era})"))
        patterns.append((DateForm.MONTH, rf"(?<!\w)(?P<date>{name}(?:\s*,)?\s+{date.year}{era})(?!\d)"))
    form = DateForm.YEAR if date.month or not date.before_christ else DateForm.WHOLE
    patterns.append((form, rf"(?<![\w/.-])(?P<date>{date.year}{era})(?![\w/]|\.\d|,\d)"))
    return patterns


__all__ = ["DateForm", "RecordDate", "mentions", "parse_date"]
