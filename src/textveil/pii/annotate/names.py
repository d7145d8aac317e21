"""Names of people: how a value of a record may stand in a text.

A name is read as given names, a surname (with its particles), and nicknames in quotes. What may differ: order
("Meyer, Anna"), initials ("A. Meyer"), left-out or added middle names, titles, suffixes, diacritics, nicknames (the
public list, or quoted in either), small misspellings, and the surname: a spouse or a child may carry the surname of
the person that the text is about.

The form of a mention says how much of the name stands there:

    FULL      first given name and surname, or every word of the value
    FAMILY    the given name with the subject's surname, where the value says no or another surname
    SURNAME, GIVEN, NICKNAME   one of them alone
    OTHER     the given name with a surname that neither the value nor the subject has: another person, or a maiden
    name
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from .phrases import Run
from .wordlists import PARTICLES, SUFFIXES, TITLES, fold, is_nickname

_QUOTED = re.compile(r'\\?["“«]([^"”»\\]+)\\?["”»]')
_BRACKETED = re.compile(r"\([^)]*\)?|\[[^\]]*\]?")
_WORD = re.compile(r"[^\W\d_]+(?:['’.-](?=[^\W\d_])[^\W\d_]+)*")
MISSPELT = 88.0  # per cent of likeness, for words of six letters and more


class Form(StrEnum):
    FULL = "full"
    FAMILY = "family"
    SURNAME = "surname"
    GIVEN = "given"
    NICKNAME = "nickname"
    MAIDEN = "maiden"
    OTHER = "other"


@dataclass(frozen=True)
class PersonName:
    """A name of a record, folded."""

    given: tuple[str, ...]
    surname: str
    nicknames: frozenset[str]

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.given, *self.surname.split())


def parse_name(text: str) -> PersonName | None:
    """A name as it was typed into a record; None where no name is in it.

    >>> parse_name("Meyer, Dr. Anna Maria")
    PersonName(given=('anna', 'maria'), surname='meyer', nicknames=frozenset())
    >>> parse_name('Eduard "Tete" (1910–1965)')
    PersonName(given=('eduard',), surname='', nicknames=frozenset({'tete'}))
    >>> parse_name("Ludwig van Beethoven").surname
    'van beethoven'
    """
    plain = _BRACKETED.sub(" ", text)
    nicknames = frozenset(fold(word) for quoted in _QUOTED.findall(plain) for word in _WORD.findall(quoted))
    bare = _QUOTED.sub(" ", plain)
    before, comma, after = bare.partition(",")
    if comma and after.strip() and len(_WORD.findall(before)) <= 3 and fold(after).strip(" .") not in SUFFIXES:
        bare = f"{after} {before}"
    words = [fold(word) for word in _WORD.findall(bare)]
    while words and words[0].rstrip(".") in TITLES:
        words = words[1:]
    words = [word for word in words if word not in SUFFIXES]
    if not words and not nicknames:
        return None
    if len(words) < 2:
        return PersonName(tuple(words), "", nicknames)
    split = len(words) - 1
    while split > 1 and words[split - 1] in PARTICLES:
        split -= 1
    return PersonName(tuple(words[:split]), " ".join(words[split:]), nicknames)


def form_of(name: PersonName, run: Run, subject: frozenset[str]) -> Form | None:
    """How a run of words names a person; None where it does not. `subject` holds the words of the "
    "subject's own names."""
    words = [word for word in run.folded if word not in SUFFIXES]
    while len(words) > 1 and words[0] in TITLES:
        words = words[1:]
    if not words or not (name.words or name.nicknames):
        return None
    if len(words) == 1:
        return _single(name, words[0], subject)
    last, surname = words[-1], _last(name.surname)
    of_family = last in subject or last == surname
    if _in_order(name.words, words) and (last in name.words or last in subject):
        return Form.FULL
    if of_family and (name.nicknames & set(words) or (not surname and name.given[:1] and name.given[0] in words)):
        return Form.FULL
    if not name.given:
        return None
    if surname and _same_word(last, surname) and _same_given(name, words[0]):
        return Form.OTHER if _middle_names_differ(name, words) else Form.FULL
    if name.given[0] not in words[:-1]:
        return None
    if words[0] == name.given[0] and last in subject:
        return Form.FAMILY
    if surname and surname in subject:
        return Form.MAIDEN
    return Form.OTHER if surname else None


def _middle_names_differ(name: PersonName, words: list[str]) -> bool:
    """Whether both say middle names and share none, not even by an initial."""
    own, there = name.given[1:], words[1:-1]
    same = any(a == b or (1 in (len(a), len(b)) and a[0] == b[0]) or is_nickname(a, b) for a in own for b in there)
    return bool(own and there and not same and not name.nicknames & set(there))


def _single(name: PersonName, word: str, subject: frozenset[str]) -> Form | None:
    if word in name.nicknames:
        return Form.NICKNAME
    if any(_same_word(word, own) for own in subject):
        return None
    if name.surname and _same_word(word, _last(name.surname)):
        return Form.SURNAME
    if not name.given or len(word) < 2:
        return None
    if word == name.given[0]:
        return Form.GIVEN
    return Form.NICKNAME if is_nickname(word, name.given[0]) else None


def _last(surname: str) -> str:
    return surname.split()[-1] if surname else ""


def _same_given(name: PersonName, word: str) -> bool:
    first = name.given[0]
    initial = (len(word) == 1 or len(first) == 1) and word[0] == first[0]
    return initial or word in name.nicknames or _same_word(word, first) or is_nickname(word, first)


def _same_word(one: str, other: str) -> bool:
    """Equal, but for a small misspelling of a long word."""
    if one == other:
        return True
    if min(len(one), len(other)) < 6 or one[0] != other[0]:
        return False
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other) >= MISSPELT


def _in_order(wanted: tuple[str, ...], words: list[str]) -> bool:
    """Whether all wanted words stand in this order, the first one first."""
    if not wanted or not _same_word(wanted[0], words[0]):
        return False
    rest = iter(words)
    return all(any(_same_word(want, word) for word in rest) for want in wanted)


__all__ = ["Form", "PersonName", "form_of", "parse_name"]
