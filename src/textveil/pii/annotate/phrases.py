"""Candidate phrases: runs of capitalised words, which in English are where names of people and organisations stand.

A run of a person's name may hold initials ("E."), particles between its words ("van der"), a nickname in quotes and a
maiden name in brackets, as long as another capitalised word follows: `Emmanuel "Mike" Agassi`, `Abigail (Harris)
Johnston`. A run of an organisation's name may hold connecting words ("of", "and") and possessives. Titles and words
such as "After" at the beginning of a sentence are no part of a run. What a recogniser marks as a name is a run as well, with
or without capitals (`names`, `organisations`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from textveil.text.spans import Span

from .wordlists import CONNECTORS, NOT_NAMES, PARTICLES, SUFFIXES, TITLES, fold

_WORD = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}\b|[^\W_]+(?:[&'’-](?=[^\W_])[^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_OPENS, _CLOSES = ('"', "“", "(", '\\"', "«"), ('"', "”", ")", '\\"', "»")
_SENTENCE_END = re.compile(r"[.!?][\"”’')\]]*\s+(?=[\"“(\[]?[^\W\d_a-z])|\n+")


@dataclass(frozen=True)
class Word:
    """A word of a text; a possessive 's is cut off and remembered."""

    start: int
    end: int
    text: str
    possessive: bool = False

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def is_initial(self) -> bool:
        return len(self.text.replace(".", "")) == 1 and self.is_capital


@dataclass(frozen=True)
class Run:
    """Words that stand together; `end` may include the full stop of "Jr."."""

    words: tuple[Word, ...]
    end: int

    @property
    def start(self) -> int:
        return self.words[0].start

    @property
    def folded(self) -> list[str]:
        return [word.folded for word in self.words]


class Phrases:
    """A text's words, sentences and runs, found once."""

    def __init__(self, text: str, names: Sequence[Span] = (), organisations: Sequence[Span] = ()):
        self.text, self._names, self._organisations = text, names, organisations

    @cached_property
    def words(self) -> list[Word]:
        words = []
        for found in _WORD.finditer(self.text):
            piece = found[0]
            cut = _POSSESSIVE.search(piece)
            own = piece[: cut.start()] if cut else piece
            after = self.text[found.end() : found.end() + 2]
            plural = own.endswith("s") and after[:1] in ("'", "’") and not after[1:].isalnum()
            words.append(Word(found.start(), found.start() + len(own), own, bool(cut) or plural))
        return words

    @cached_property
    def sentence_starts(self) -> list[int]:
        """Where sentences begin; an abbreviation may cut one too early, which only narrows a context."""
        return [0, *(found.end() for found in _SENTENCE_END.finditer(self.text))]

    def gap(self, left: Word, right: Word) -> str:
        return self.text[left.end : right.start]

    @cached_property
    def person_runs(self) -> list[Run]:
        """Runs that may name a person."""
        runs, i = [], 0
        while i < len(self.words):
            if not self._begins_name(i):
                i += 1
                continue
            last = i
            while (following := self._continues_name(last, i)) is not None:
                last = following
            runs.append(Run(tuple(self.words[i : last + 1]), self._end(self.words[last])))
            i = last + 1
        return self._with_marked(runs, self._names)

    def _begins_name(self, i: int) -> bool:
        word = self.words[i]
        if word.is_initial and self.text[word.end : word.end + 2] == ". ":
            return i + 1 < len(self.words) and self.words[i + 1].is_capital
        return word.is_capital and word.folded not in NOT_NAMES and not self._is_title(i)

    def _is_title(self, i: int) -> bool:
        """A title stands before a name: "King George", but not "Mr. King said"."""
        word = self.words[i]
        if word.folded not in TITLES or i + 1 >= len(self.words):
            return False
        following = self.words[i + 1]
        return following.is_capital and self.gap(word, following) in (" ", ". ")

    def _continues_name(self, last: int, first: int) -> int | None:
        """The number of the word that goes on with a run, if one does."""
        words = self.words
        if last + 1 >= len(words) or words[last].possessive:
            return None
        here, following, gap = words[last], words[last + 1], self.gap(words[last], words[last + 1])
        if following.folded in PARTICLES and gap == " " and not following.is_capital:
            return self._after_particles(last + 1)
        if not following.is_capital or (
            following.folded in NOT_NAMES and following.folded not in ("may", "april", "june")
        ):
            return None
        if gap == " " or (gap == ". " and (here.is_initial or here.folded in ("st", "wm", "chas", "geo"))):
            return last + 1
        if following.folded in SUFFIXES and gap in (", ", " "):
            return last + 1
        stripped = gap.strip()
        if stripped in _CLOSES and gap.endswith(" ") and (last > first or self._opened_before(first)):
            return last + 1
        if stripped in _OPENS and gap.startswith(" ") and last + 2 < len(words):
            inner_gap = self.gap(following, words[last + 2])
            if inner_gap.strip() in _CLOSES and inner_gap.endswith(" ") and words[last + 2].is_capital:
                return last + 1
        return None

    def _opened_before(self, first: int) -> bool:
        return self.text[: self.words[first].start].endswith(_OPENS)

    def _after_particles(self, i: int) -> int | None:
        while i + 1 < len(self.words) and self.gap(self.words[i], self.words[i + 1]) == " ":
            if self.words[i + 1].is_capital:
                return i + 1
            if self.words[i + 1].folded not in PARTICLES:
                return None
            i += 1
        return None

    def _end(self, last: Word) -> int:
        closes = last.folded in ("jr", "sr") and self.text[last.end : last.end + 1] == "."
        return last.end + 1 if closes else last.end

    @cached_property
    def organisation_runs(self) -> list[Run]:
        """Runs that may name an organisation: connecting words and possessives inside are kept."""
        runs, i = [], 0
        while i < len(self.words):
            word = self.words[i]
            if not word.is_capital or word.folded in NOT_NAMES:
                i += 1
                continue
            last = i
            while (following := self._continues_organisation(last)) is not None:
                last = following
            runs.append(Run(tuple(self.words[i : last + 1]), self.words[last].end))
            i = last + 1
        return self._with_marked(runs, self._organisations)

    def _with_marked(self, runs: list[Run], marked: Sequence[Span]) -> list[Run]:
        """The runs, and those that a recogniser marks at other places, in order."""
        own = {(run.start, run.end) for run in runs}
        new = [tuple(w for w in self.words if s.start <= w.start and w.end <= s.end) for s in marked]
        more = [Run(words, words[-1].end) for words in new if words and (words[0].start, words[-1].end) not in own]
        return sorted([*runs, *more], key=lambda run: (run.start, run.end)) if more else runs

    def _continues_organisation(self, last: int) -> int | None:
        words, place = self.words, last
        for _ in range(4):  # "University of the South": at most three connecting words between capitals
            if place + 1 >= len(words):
                return None
            here, following = words[place], words[place + 1]
            gap = self.gap(here, following)
            joined = gap in (" ", "'s ", "’s ", " & ") or (gap == ". " and here.folded in ("st", "mt", "ft"))
            if not joined:
                return None
            if following.is_capital and following.folded not in NOT_NAMES:
                return place + 1
            if following.folded not in CONNECTORS:
                return place + 1 if self._is_lower_school(following) and place == last else None
            place += 1
        return None

    @staticmethod
    def _is_lower_school(word: Word) -> bool:
        return word.folded in ("gymnasium", "university", "college", "school", "academy")

    def sentence_of(self, place: int) -> tuple[int, int]:
        """Start and end of the sentence around a place."""
        import bisect

        starts = self.sentence_starts
        number = bisect.bisect_right(starts, place) - 1
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.text)


__all__ = ["Phrases", "Run", "Word"]
