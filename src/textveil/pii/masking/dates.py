"""Dates moved by a number of days, written as they were.

All dates of one person move by the same secret number of days, so the days between two of them stay what they were. What
is no date with a month in it (a weekday, a year alone) cannot be moved and gets its tag.

Where 03/04/1999 could be both, signs decide: with slashes the month stands first, with dots and hyphens the day. That is
one reading for all dates, so days between dates of one form are kept.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

MONTHS = tuple("january february march april may june july august september october november december".split())
_GERMAN = tuple("januar februar märz april mai juni juli august september oktober november dezember".split())
_NUMBERS = re.compile(r"(?P<a>\d{1,4})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<c>\d{2,4})")
_DAY_FIRST = re.compile(
    r"(?P<d>\d{1,2})(?P<th>st|nd|rd|th|\.)?(?P<g1>(?: of)?[ -])(?P<m>[^\W\d_]+\.?)(?:(?P<g2>,?[ -])(?P<y>\d{4}|\d{2}))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?P<m>[^\W\d_]+\.?)(?P<g1> )(?P<d>\d{1,2})(?P<th>st|nd|rd|th)?(?!\d)(?:(?P<g2>,? )(?P<y>\d{4}))?", re.IGNORECASE
)
_MONTH_YEAR = re.compile(r"(?P<m>[^\W\d_]+)(?P<g1>,? )(?P<y>\d{4})", re.IGNORECASE)
_LEAP_FREE = 2001  # stands for a year that is not written


def shift_date(value: str, days: int) -> str | None:
    """The date so many days later, written alike; None where it cannot be read.

    >>> shift_date("1999-12-30", 3), shift_date("3 March 1999", -5), shift_date("Mar. 31st, 2020", 1)
    ('2000-01-02', '26 February 1999', 'Apr. 1st, 2020')
    >>> shift_date("2007-01-17 23:08:55", 1), shift_date("12/31/1999", 1), shift_date("Monday", 1)
    ('2007-01-18 23:08:55', '01/01/2000', None)
    """
    for pattern, move in ((_NUMBERS, _numbers), (_DAY_FIRST, _words), (_MONTH_FIRST, _words), (_MONTH_YEAR, _words)):
        hit = pattern.match(value)
        if hit is not None:
            try:
                moved = move(hit, days)
            except (ValueError, OverflowError):
                continue
            if moved is not None:
                return moved + value[hit.end() :]
    return None


def _numbers(hit: re.Match[str], days: int) -> str | None:
    a, b, c, sign = hit["a"], hit["b"], hit["c"], hit["s"]
    if len(a) == 4:
        order = "ymd"
    elif int(a) > 12:
        order = "dmy"
    elif int(b) > 12:
        order = "mdy"
    else:
        order = "mdy" if sign == "/" else "dmy"
    parts = dict(zip(order, (a, b, c), strict=True))
    moved = date(_year(parts["y"]), int(parts["m"]), int(parts["d"])) + timedelta(days)
    shown = {
        "y": str(moved.year) if len(parts["y"]) == 4 else f"{moved.year % 100:02d}",
        "m": str(moved.month).zfill(len(parts["m"]) if parts["m"][0] == "0" or len(parts["m"]) == 2 else 1),
        "d": str(moved.day).zfill(len(parts["d"]) if parts["d"][0] == "0" or len(parts["d"]) == 2 else 1),
    }
    return sign.join(shown[part] for part in order)


def _words(hit: re.Match[str], days: int) -> str | None:
    parts = hit.groupdict()
    found = _month(parts["m"])
    if found is None:
        return None
    number, names = found
    year = _year(parts["y"]) if parts.get("y") else _LEAP_FREE
    moved = date(year, number, int(parts.get("d") or 15)) + timedelta(days)
    month = _like(names[moved.month - 1], parts["m"])
    shown_year = "" if not parts.get("y") else str(moved.year)[-len(parts["y"]) :]
    day = (
        ""
        if not parts.get("d")
        else str(moved.day).zfill(2 if parts["d"].startswith("0") else 1) + _ending(parts.get("th"), moved.day)
    )
    if not day:
        return f"{month}{parts['g1']}{shown_year}"
    first, second = (month, day) if hit.re is _MONTH_FIRST else (day, month)
    return f"{first}{parts['g1']}{second}{parts.get('g2') or ''}{shown_year}"


def _year(written: str) -> int:
    return int(written) if len(written) == 4 else int(written) + (1900 if int(written) > 30 else 2000)


def _month(written: str) -> tuple[int, tuple[str, ...]] | None:
    plain = written.rstrip(".").casefold()
    for names in (MONTHS, _GERMAN):
        for number, name in enumerate(names, 1):
            if name == plain or (len(plain) >= 3 and name.startswith(plain)):
                return number, names
    return None


def _like(name: str, written: str) -> str:
    plain = written.rstrip(".")
    short = len(plain) <= 4 and not any(plain.casefold() in names for names in (MONTHS, _GERMAN))
    shown = name[: len(plain)] if short else name
    shown = shown.upper() if plain.isupper() else shown if plain.islower() else shown.capitalize()
    return shown + ("." if written.endswith(".") else "")


def _ending(written: str | None, day: int) -> str:
    if not written or written == ".":
        return written or ""
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


__all__ = ["shift_date"]
