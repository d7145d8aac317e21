"""Who is who: one person keeps one pseudonym over a corpus, however the name is written.

Policy, stated on the card and in the docs:

- The same given and family name is the same person in all documents, unless middle names contradict each other. Two people
  with one name share a pseudonym: nothing in the text tells them apart. A field that says whom a document is about (`scope`)
  keeps them apart: then people are the same only within one value of that field.
- A shorter form (Dr Meyer, Anna M., Anna) is the person of the same document that it fits, the last one named if there are
  several; else the only person of the corpus that it fits; else a person of its own.

A pseudonym is chosen by a keyed hash of the person, the next free one where it is taken, so no two people share one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from textveil.pii.masking.invented import GIVEN, invented_names
from textveil.pii.masking.keys import MaskKey
from textveil.pii.masking.names import Name, parse_name


@dataclass
class Person:
    """A person of the corpus and the pseudonym, which is chosen when it is first needed."""

    name: Name
    scope: str
    given: str = ""
    family: str = ""

    def to_json(self) -> list[Any]:
        return [list(self.name.given), self.name.family, self.name.single, self.scope, self.given, self.family]


class People:
    """All people of a corpus.

    >>> people = People(MaskKey(bytes(32)))
    >>> people.note(["Anna Meyer", "Bo Lind"])
    >>> full, short = people.resolve("Anna Meyer", []), people.resolve("Dr Meyer", [])
    >>> full is short, full.family == people.resolve("Bo Lind", []).family
    (True, False)
    """

    def __init__(self, key: MaskKey | None = None, people: Iterable[Person] = ()):
        self.key = key  # needed once a pseudonym is asked for
        self._all: list[Person] = []
        self._by_word: dict[tuple[str, str], list[Person]] = defaultdict(list)  # scope and a name's word
        self._taken: set[tuple[str, str]] = set()
        self._families: set[str] = set()
        for person in people:
            self._keep(person)

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Any:
        return iter(self._all)

    def note(self, values: Iterable[str], scope: str = "") -> None:
        """Remember the full names of a document."""
        for value in values:
            name = parse_name(value)
            if name.is_full:
                self._full(name, scope)

    def resolve(self, value: str, here: list[Person], scope: str = "") -> Person:
        """The person that a written name means; `here` are the people named so far in the document, and is added to."""
        name = parse_name(value)
        person = self._full(name, scope) if name.is_full else self._short(name, here, scope)
        here.append(person)
        if not person.family:
            self._choose(person)
        return person

    def _full(self, name: Name, scope: str) -> Person:
        for person in self._by_word.get((scope, name.family), ()):
            if person.name.is_full and _is_same(person.name, name):
                if len(name.given) > len(person.name.given):
                    person.name = name
                return person
        return self._new(name, scope)

    def _short(self, name: Name, here: list[Person], scope: str) -> Person:
        for person in reversed(here):
            if (person.name.is_full and name.fits(person.name)) or person.name == name:
                return person
        listed = self._by_word.get((scope, name.family), [])
        if not name.single and name.given and len(name.family) == 1:
            listed = self._by_word.get((scope, name.given[0]), [])
        fitting = [p for p in listed if p.name.is_full and name.fits(p.name)]
        if len(fitting) == 1:
            return fitting[0]
        own = next((p for p in listed if p.name == name), None)
        return own or self._new(name, scope)

    def _new(self, name: Name, scope: str) -> Person:
        person = Person(name, scope)
        self._keep(person)
        return person

    def _keep(self, person: Person) -> None:
        self._all.append(person)
        words = {person.name.family, *person.name.given[:1]}
        for word in words:
            self._by_word[person.scope, word].append(person)
        if person.family:
            self._taken.add((person.given, person.family))
            self._families.add(person.family)

    def _choose(self, person: Person) -> None:
        """A pair of names that nobody has, of a family that nobody has while there is one."""
        if self.key is None:
            raise ValueError("pseudonyms need a key")
        families, name = invented_names(), person.name
        identity = f"{person.scope}\n{name.given[0] if name.given else ''}\n{name.family}"
        for attempt in range(1 << 20):
            number = self.key.number("person", f"{identity}\n{attempt}")
            given, family = GIVEN[number % len(GIVEN)], families[number // len(GIVEN) % len(families)]
            if attempt > 64:
                family = f"{family}-{families[number // 10**9 % len(families)]}"
            fresh = family not in self._families or len(self._families) > len(families) // 2
            if (given, family) not in self._taken and fresh:
                person.given, person.family = given, family
                self._taken.add((given, family))
                self._families.add(family)
                return
        raise OverflowError("no pseudonym is left")

    @staticmethod
    def person_from_json(kept: list[Any]) -> Person:
        given, family, single, scope, pseudo_given, pseudo_family = kept
        return Person(Name(tuple(given), family, bool(single)), scope, pseudo_given, pseudo_family)


def _is_same(one: Name, other: Name) -> bool:
    """Whether two full names are one: given and family name agree, and middle names do not contradict each other."""
    same = one.given[0] == other.given[0] and one.family == other.family
    return same and (one.fits(other) or other.fits(one))


__all__ = ["People", "Person"]
