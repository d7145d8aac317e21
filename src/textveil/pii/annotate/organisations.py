"""Names of schools, employers and other organisations.

What tells one organisation from another are its distinctive words ("Southern Methodist" of "Southern Methodist
University"); generic words (University, College, of) and company endings may be added, dropped or moved. Also found:
the abbreviation made of the first letters ("SMU"), and the generic word alone with a capital ("the Polytechnic")
where the value holds it.

    FULL     every distinctive word of the value
    PART     the distinctive words alone, or some of them with a generic word; and none that the value does not have
    SHORT    the abbreviation, the place behind a comma, or the value's generic word alone
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from .phrases import Run
from .wordlists import COMPANY_ENDINGS, CONNECTORS, SCHOOL_WORDS, fold

_BRACKETED = re.compile(r"\([^)]*\)?|\[[^\]]*\]?")
_WORD = re.compile(r"[^\W_]+(?:[.&'’-](?=[^\W_])[^\W_]+)*")
_SHORT_NAMES = frozenset("polytechnic academy gymnasium institute conservatory lyceum seminary".split())
ALIKE = 90.0  # per cent of likeness of two distinctive words of five letters and more


class OrganisationForm(StrEnum):
    FULL = "full"
    PART = "part"
    SHORT = "short"


@dataclass(frozen=True)
class OrganisationName:
    """The value of a record, folded: all words, the distinctive ones, and the letters that abbreviate it."""

    words: tuple[str, ...]
    distinctive: frozenset[str]
    abbreviation: str
    tail: str = ""  # what stands behind a comma: "Oxford" of "Balliol College, Oxford"


def parse_organisation(text: str) -> OrganisationName | None:
    """A name as it was typed into a record; None where nothing tells it from others.

    >>> sorted(parse_organisation("University of the South (BA)").distinctive)
    ['south']
    >>> parse_organisation("Balliol College, Oxford").tail
    'oxford'
    """
    plain = _BRACKETED.sub(" ", text)
    head, _, tail = plain.partition(",")
    words = [_bare(word) for word in _WORD.findall(head)]
    distinctive = frozenset(word for word in words if is_distinctive(word))
    if not distinctive:
        return None
    letters = "".join(word[0] for word in words if word not in CONNECTORS)
    return OrganisationName(tuple(words), distinctive, letters, fold(tail).strip(" ."))


def _bare(word: str) -> str:
    return re.sub(r"['’]s$", "", fold(word))


def is_distinctive(word: str) -> bool:
    """Whether a folded word tells an organisation from others."""
    return word not in SCHOOL_WORDS and word not in COMPANY_ENDINGS and word not in CONNECTORS


def organisation_form(name: OrganisationName, run: Run) -> OrganisationForm | None:
    """How a run of words names the organisation; None where it does not."""
    words = [_bare(word.folded) for word in run.words]
    own = {word for word in words if is_distinctive(word)}
    if not own:
        known = set(words) & set(name.words) & _SHORT_NAMES
        return OrganisationForm.SHORT if len(words) == 1 and known else None
    is_letters = len(words) == 1 and run.words[0].text.isupper() and len(name.abbreviation) > 2
    if is_letters and words[0] == name.abbreviation:
        return OrganisationForm.SHORT
    found = {want for want in name.distinctive if any(_same(want, word) for word in own)}
    unknown = {word for word in own if not any(_same(word, want) for want in name.distinctive)}
    strangers = unknown - {name.tail}
    generic = [w for w in words if w in SCHOOL_WORDS and w not in CONNECTORS]
    if found == name.distinctive and not strangers:
        is_whole = generic or all(is_distinctive(word) or word in COMPANY_ENDINGS for word in name.words)
        return OrganisationForm.FULL if is_whole else OrganisationForm.PART
    if found and not strangers and len(words) > 1:
        return OrganisationForm.PART
    if own == {name.tail} and len(words) == 1:
        return OrganisationForm.SHORT
    return None


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < 5:
        return False
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other) >= ALIKE


__all__ = ["OrganisationForm", "OrganisationName", "organisation_form", "parse_organisation"]
