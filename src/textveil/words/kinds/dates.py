"""Dates written in digits, such as 2021-03-04, 3/14/2021 or 04.03.21: shifted by days, written as they were.

Metric. Two dates of one form are |days between them| / 365 apart. A date with four digits of the year lies within 1900 to
2099, one with two digits within the century that it counts (read as 2000 to 2099).

Claim. The day is moved by two-sided geometric noise of rate epsilon / 365 over the days of that range, cut off at its ends
(lattice.py). Then P[M(a) = y] <= exp(epsilon d(a, b)) P[M(b) = y]. What is written is a function of the day and of the form.

The form passes: order, separator, digits of the year, and whether days and months below ten are written with a zero. Order:
the year stands first if it has four digits there; else "/" has the month before the day and "." and "-" the day before the
month, and where that is no date the other way round. What is no date either way, or outside the range, is three numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from textveil.noise import Source
from textveil.words.kinds import lattice

DAYS_A_STEP = 365
FIRST = {4: date(1900, 1, 1), 2: date(2000, 1, 1)}  # by digits of the year
LAST = date(2099, 12, 31)
DIAMETER = (LAST - FIRST[4]).days / DAYS_A_STEP


@dataclass(frozen=True)
class DateForm:
    """How a date is written: the order of day (d), month (m) and year (y), digits of the year, zeros before small numbers."""

    order: str
    year_digits: int
    padded: bool

    @property
    def points(self) -> int:
        return (LAST - FIRST[self.year_digits]).days + 1

    def parts(self, place: int) -> tuple[str, str, str]:
        """The three numbers of the day with that number.

        >>> DateForm("mdy", 4, False).parts(0), DateForm("ymd", 4, True).parts(59)
        (('1', '1', '1900'), ('1900', '03', '01'))
        """
        day = FIRST[self.year_digits] + timedelta(days=place)
        width = 2 if self.padded else 1
        year = f"{day.year % 100:02d}" if self.year_digits == 2 else str(day.year)
        written = {"d": f"{day.day:0{width}d}", "m": f"{day.month:0{width}d}", "y": year}
        first, second, third = (written[part] for part in self.order)
        return first, second, third


def read(parts: tuple[str, str, str], separator: str) -> tuple[DateForm, int] | None:
    """The form and the number of the day, or None where the three numbers are no date.

    >>> read(("1900", "03", "01"), "-")
    (DateForm(order='ymd', year_digits=4, padded=True), 59)
    >>> read(("25", "12", "2021"), "/")[0].order, read(("31", "2", "2021"), ".")
    ('dmy', None)
    """
    for order in _orders(parts, separator):
        written = dict(zip(order, parts, strict=True))
        small = len(written["d"]), len(written["m"])
        if max(small) > 2 or len(written["y"]) not in FIRST:
            continue
        form = DateForm(order, len(written["y"]), small == (2, 2))
        day = _day(form, written)
        if day is not None:
            return form, day
    return None


def _orders(parts: tuple[str, str, str], separator: str) -> tuple[str, ...]:
    if len(parts[0]) == 4:
        return ("ymd",)
    return ("mdy", "dmy") if separator == "/" else ("dmy", "mdy")


def _day(form: DateForm, written: dict[str, str]) -> int | None:
    year = int(written["y"]) + (2000 if form.year_digits == 2 else 0)
    try:
        day = date(year, int(written["m"]), int(written["d"]))
    except ValueError:
        return None
    return (day - FIRST[form.year_digits]).days if FIRST[form.year_digits] <= day <= LAST else None


def draw(days: list[tuple[DateForm, int]], epsilon: float, noise: Source) -> list[tuple[str, str, str]]:
    """The three numbers of a drawn date for each."""
    points = np.array([form.points for form, _ in days])
    places = np.array([place for _, place in days])
    drawn = lattice.draw(places, points, epsilon / DAYS_A_STEP, noise)
    return [form.parts(place) for (form, _), place in zip(days, drawn.tolist(), strict=True)]
