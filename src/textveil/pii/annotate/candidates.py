"""Candidates: places in a text where a value of a record may stand, with the form it has there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import dates, names, organisations
from .fields import FieldValue, Kind
from .phrases import Phrases, Run, Word
from .wordlists import NOT_NAMES, fold

STRONG = frozenset({"full", "family", "whole", "exact"})  # forms that say who or what is meant by themselves


@dataclass(frozen=True)
class Candidate:
    """A place, the value that may stand there, and in which form."""

    start: int
    end: int
    value: FieldValue
    form: str

    @property
    def is_strong(self) -> bool:
        return self.form in STRONG


@dataclass(frozen=True)
class Subject:
    """The person that a document is about: the folded words of all of the person's names, and the last "
    "word of each."""

    words: frozenset[str]
    surnames: frozenset[str]

    @classmethod
    def of(cls, values: list[FieldValue]) -> Subject:
        parsed = [names.parse_name(v.text) for v in values if v.kind is Kind.SUBJECT]
        known = [name for name in parsed if name is not None]
        words = frozenset(word for name in known for word in (*name.words, *name.nicknames) if word not in NOT_NAMES)
        return cls(words, frozenset(name.words[-1] for name in known if name.words))


def candidates(phrases: Phrases, values: list[FieldValue], subject: Subject) -> list[Candidate]:
    """All candidates of a document, in the order of the text; they may overlap."""
    found = [c for value in values if value.kind in _FINDERS for c in _FINDERS[value.kind](phrases, value, subject)]
    return sorted(set(found), key=lambda c: (c.start, -c.end, c.value.label, c.form, c.value.text))


def _people(phrases: Phrases, value: FieldValue, subject: Subject) -> Iterator[Candidate]:
    name = names.parse_name(value.text)
    if name is None:
        return
    runs = phrases.person_runs
    for number, run in enumerate(runs):
        piece, form = _named_part(name, run, subject)
        if form is not None:
            swapped = _swapped(phrases, name, piece, runs[number + 1 : number + 2])
            yield Candidate(piece.start, swapped or piece.end, value, "full" if swapped else str(form))


def _named_part(name: names.PersonName, run: Run, subject: Subject) -> tuple[Run, names.Form | None]:
    """The part of a run that names somebody in full ("Yesterday Karl Berg"), else the whole of it."""
    whole = names.form_of(name, run, subject.words)
    if whole not in (None, names.Form.OTHER):
        return run, whole
    full = (part for part in _shorter(run) if names.form_of(name, part, subject.words) is names.Form.FULL)
    part = next(full, None)
    return (run, whole) if part is None else (part, names.Form.FULL)


def _shorter(run: Run) -> Iterator[Run]:
    """The run without its first word or two ("Belgian Maria Nys"), as long as two words are left."""
    for first in range(1, min(3, len(run.words) - 1)):
        yield Run(run.words[first:], run.end)


def _swapped(phrases: Phrases, name: names.PersonName, run: Run, following: list[Run]) -> int | None:
    """The end of "Meyer, Anna", where the run is the surname and the next one the given name."""
    if len(run.words) > 2 or not name.surname or run.folded[-1] != name.surname.split()[-1] or not following:
        return None
    after = following[0]
    if phrases.text[run.end : after.start] != ", " or not name.given:
        return None
    first = after.folded[0]
    fits = first == name.given[0] or (after.words[0].is_initial and first[0] == name.given[0][0])
    return after.end if fits and len(run.words) == len(name.surname.split()) else None


def _dates(phrases: Phrases, value: FieldValue, subject: Subject) -> Iterator[Candidate]:
    date = dates.parse_date(value.text)
    if date is not None:
        for start, end, form in dates.mentions(date, phrases.text):
            yield Candidate(start, end, value, str(form))


def _organisations(phrases: Phrases, value: FieldValue, subject: Subject) -> Iterator[Candidate]:
    name = organisations.parse_organisation(value.text)
    if name is None:
        return
    for run in phrases.organisation_runs:
        for piece in _pieces(run):
            form = organisations.organisation_form(name, piece)
            if form is not None:
                yield Candidate(piece.start, _organisation_end(phrases, name, piece, value.text), value, str(form))
                break


def _pieces(run: Run) -> Iterator[Run]:
    """The run, then what stands between its words "and", "in", "at", "to" and "for"; no piece begins with "the"."""
    yield _trimmed(run.words)
    begin = 0
    for number, word in enumerate((*run.words, None)):
        if word is None or word.folded in ("and", "in", "at", "to", "for"):
            if own := run.words[begin:number]:
                yield _trimmed(own)
            begin = number + 1


def _trimmed(words: tuple[Word, ...]) -> Run:
    first = next((n for n, word in enumerate(words) if word.is_capital), 0)
    return Run(tuple(words[first:]), words[-1].end)


def _organisation_end(phrases: Phrases, name: organisations.OrganisationName, run: Run, value: str) -> int:
    """The end of a run, moved behind a possessive or a place that belong to the name ("Balliol College, Oxford")."""
    last = run.words[-1]
    if last.possessive and f"{last.folded}'s" in fold(value):
        return run.end + 2
    after = phrases.text[run.end : run.end + len(name.tail) + 2]
    return run.end + len(after) if name.tail and fold(after) == f", {name.tail}" else run.end


def _places(phrases: Phrases, value: FieldValue, subject: Subject) -> Iterator[Candidate]:
    parts = [part.strip() for part in value.text.split(",") if part.strip()]
    for form, text in (("exact", value.text), *(("part", part) for part in parts[:1] if len(parts) > 1)):
        for found in _plainly(text).finditer(phrases.text):
            if phrases.text[found.start()].isupper():
                yield Candidate(found.start(), found.end(), value, form)


def _values(phrases: Phrases, value: FieldValue, subject: Subject) -> Iterator[Candidate]:
    if len(re.sub(r"\W", "", value.text)) > 1:
        for found in _plainly(value.text).finditer(phrases.text):
            yield Candidate(found.start(), found.end(), value, "exact")


def _plainly(text: str) -> re.Pattern[str]:
    """The value with any signs between its words: 555-0199 is 555 0199."""
    words = re.findall(r"[^\W_]+", text) or [re.escape(text)]
    return re.compile(r"(?<!\w)" + r"[\W_]{1,3}".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE)


_FINDERS: dict[Kind, Callable[[Phrases, FieldValue, Subject], Iterator[Candidate]]] = {
    Kind.PERSON: _people,
    Kind.DATE: _dates,
    Kind.ORGANISATION: _organisations,
    Kind.PLACE: _places,
    Kind.VALUE: _values,
}

__all__ = ["Candidate", "Subject", "candidates"]
