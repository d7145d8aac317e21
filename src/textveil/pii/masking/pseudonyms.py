"""Pseudonyms: a value of the same kind in the place of each, the same throughout a corpus, by key.

people      an invented name that tells no gender (people.py); pronouns stay as they are
dates       moved by a secret number of days, the same for all dates of a person (dates.py)
numbers     of the same form (digits.py), with a checksum that fails unless asked otherwise
addresses   of the internet: under example.org; IP addresses under 10.0.0.0/8 and 2001:db8::/32, which are nobody's
places, organisations, streets    invented names
the rest    its kind, as a tag
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from textveil.core.params import positive_integer
from textveil.pii.masking.dates import shift_date
from textveil.pii.masking.digits import same_form
from textveil.pii.masking.invented import ENDINGS, GIVEN, STREETS, invented_names
from textveil.pii.masking.keys import MaskKey
from textveil.pii.masking.names import parse_name, render
from textveil.pii.masking.operators import Operator, Place, canonical
from textveil.pii.masking.people import People, Person
from textveil.text.spans import Span

PERSONS = frozenset(("PERSON", "PER", "SPOUSE", "CHILD", "PARENT", "SP", "CH", "PR", "NAME"))
DATES = frozenset(("DATE_TIME", "DATE", "BIRTH_DATE", "BD"))
PLACES = frozenset(("LOCATION", "LOC", "GPE", "CITY", "PLACE"))
ORGANISATIONS = frozenset(("ORGANIZATION", "ORG", "EDUCATION", "ED"))
_TAGGED = frozenset(("AGE", "TITLE", "NRP", "MISC"))


@dataclass(frozen=True)
class PseudonymPlan:
    """How dates and numbers are replaced. `shift_days` is the furthest that dates move, either way."""

    shift_days: int = 365
    valid_numbers: bool = False

    def __post_init__(self) -> None:
        positive_integer("shift-days", self.shift_days)


PLAN = PseudonymPlan()


@dataclass
class Pseudonyms:
    """Makes the operator of each document."""

    key: MaskKey
    people: People
    plan: PseudonymPlan = PLAN

    def operator(self, text: str, spans: Sequence[Span], place: Place) -> Operator:
        """What replaces the values of one document."""
        scope = place.person or ""
        full = [text[s.start : s.end] for s in spans if s.label in PERSONS]
        named: list[Person] = []
        for value in full:  # a short form may stand before the full one
            if parse_name(value).is_full:
                self.people.resolve(value, named, scope)
        here = named[::-1]

        def operate(span: Span, value: str, where: Place) -> str:
            if span.label in PERSONS:
                return self._person(value, here, scope)
            return self._other(span.label, value, place)

        return operate

    def _person(self, value: str, here: list[Person], scope: str) -> str:
        person, name = self.people.resolve(value, here, scope), parse_name(value)
        is_given = name.single and person.name.is_full and name.family == person.name.given[0]
        return render(value, person.given, person.family, first_is_given=is_given)

    def _other(self, label: str, value: str, place: Place) -> str:
        if label in DATES:
            return shift_date(value, self.shift_of(place)) or f"[{label}]"
        if label in _TAGGED:
            return f"[{label}]"
        number = self.key.number(f"pseudonym {label}", canonical(label, value))
        match label:
            case "EMAIL_ADDRESS":
                return f"{GIVEN[number % len(GIVEN)].lower()}.{number // 97 % 10**8:08d}@example.org"
            case "URL":
                return f"https://example.org/{number % 16**10:010x}"
            case "IP_ADDRESS":
                return _ip(value, number)
            case "STREET_ADDRESS":
                return f"{number % 197 + 1} {_pick(number)} {STREETS[number // 7 % len(STREETS)]}"
        if label in PLACES:
            return _pick(number)
        if label in ORGANISATIONS:
            return f"{_pick(number)} {ENDINGS[number // 7 % len(ENDINGS)]}"
        return self._number(value, label) or f"[{label}]"

    @cached_property
    def _number(self) -> Callable[[str, str], str | None]:
        """`same_form` under the key of this masking; the last few thousand numbers are remembered, however many there are."""
        valid = self.plan.valid_numbers
        return lru_cache(maxsize=4096)(lambda value, label: same_form(value, self.key, label, valid=valid))

    def shift_of(self, place: Place) -> int:
        """By how many days the dates of a person move (of a document, where nobody says whom it is about); never 0."""
        whose = f"document {place.document}" if place.person is None else f"person {place.person}"
        number = self.key.number("shift", whose) % (2 * self.plan.shift_days)
        return number - self.plan.shift_days if number < self.plan.shift_days else number - self.plan.shift_days + 1


def note_people(people: People, text: str, spans: Sequence[Span], place: Place) -> None:
    """Remember the people that a document names in full."""
    people.note((text[s.start : s.end] for s in spans if s.label in PERSONS), place.person or "")


def _pick(number: int) -> str:
    names = invented_names()
    return names[number // 1009 % len(names)]


def _ip(value: str, number: int) -> str:
    if ":" in value:
        return f"2001:db8::{number % 65536:x}:{number // 65536 % 65536:x}"
    return f"10.{number % 256}.{number // 256 % 256}.{number // 65536 % 254 + 1}"


__all__ = ["DATES", "ORGANISATIONS", "PERSONS", "PLACES", "PseudonymPlan", "Pseudonyms", "note_people"]
