"""The voters: what speaks for a candidate, and what against it. Each looks at something else.

form        how much of the value stands there
anchor      who the same bare name meant when it was last written out in full
context     words around it: cues of the label ("his wife"), or of another role ("her cousin", "lectured at")
standing    whether it stands there as such a thing does: a city after "in" is no child
rivals      whether another value, or another person of the text, has the same name
"""

from __future__ import annotations

import re

from .candidates import Candidate, Subject
from .fields import Kind
from .label_model import AGAINST, FOR, NOTHING, Pattern, Voter
from .phrases import Phrases
from .wordlists import CUES, JOB_CUES, OTHER_KIN, PLACE_BEFORE, fold, place_names

VOTERS = (
    Voter("form", speaks=0.6, right=0.9),
    Voter("anchor", speaks=0.5, right=0.85),
    Voter("context", speaks=0.6, right=0.8),
    Voter("standing", speaks=0.4, right=0.85),
    Voter("rivals", speaks=0.5, right=0.8),
)
_KIN = {
    "SP": r"(?:wife|husband|widow|widower|spouse|partner|girlfriend|boyfriend|fianc[ée]e?|bride)s?,?"
    r"(?: (?:was|is|named|called))?",
    "CH": r"(?:sons?|daughters?|child|children|twins)[,:]?(?: (?:was|were|named|called))?",
    "PR": r"(?:father|mother|parents)[,:]?(?: (?:was|is|were|are|named|called))?|(?:son|daughter|child|children) (?:of|to)",
}
_OF = {"CH": r"(?:father|mother|parents?) (?:of|to)", "SP": r"married(?: to)?(?: the| an?)?(?: [a-z]+){0,2}"}
_RELATIONS = {
    label: re.compile(
        r"\b(?:" + "|".join(filter(None, (_KIN.get(label), _OF.get(label)))) + r")\s+(?:[a-z]+ )?[\"“(\\]*$",
        re.IGNORECASE,
    )
    for label in ("CH", "SP", "PR")
}
_BORN = re.compile(r"\bb(?:orn|irth(?:day|date)?|\.)\b[^.;]{0,90}$", re.IGNORECASE)
_LEAD = re.compile(r"\([^()–—]{0,45}$")  # no dash: behind it stands the date of death
_DIED = re.compile(r"(?:\bdied\b|\bdeath\b|–\s*|—\s*|- )[^.;]{0,20}$", re.IGNORECASE)
_JOINED = re.compile(r"[-–/][A-Z]| (?:family|estate|brothers|household|Street|Foundation)\b")
_PERSONAL = re.compile(
    r"^(?:['’]s\b|,? (?:was|is|had|has|who|whom|died|became|married|and [A-Z]|gave|said|also|later)\b)"
)


class Ballot:
    """One document: its candidates, and the votes of each."""

    def __init__(self, phrases: Phrases, candidates: list[Candidate], subject: Subject):
        self.phrases, self.text, self.subject = phrases, phrases.text, subject
        self.candidates = candidates
        self._strong = [c for c in candidates if c.is_strong]

    def votes(self, candidate: Candidate) -> Pattern:
        kind = candidate.value.kind
        if kind is Kind.DATE:
            return self._date_votes(candidate)
        voters = (self._form, self._anchor, self._context, self._standing, self._rivals)
        return tuple(voter(candidate) for voter in voters)

    def _before(self, candidate: Candidate, most: int = 90) -> str:
        begin = max(self.phrases.sentence_of(candidate.start)[0], candidate.start - most)
        return self.text[begin : candidate.start]

    def _after(self, candidate: Candidate, most: int = 60) -> str:
        end = min(self.phrases.sentence_of(candidate.start)[1], candidate.end + most)
        return self.text[candidate.end : end]

    # ---- names and organisations

    def _form(self, candidate: Candidate) -> int:
        if candidate.is_strong:
            return FOR
        return AGAINST if self._is_somebody_else(candidate) or self._is_town(candidate) else NOTHING

    def _is_somebody_else(self, candidate: Candidate) -> bool:
        """Another surname: only the words before it can say that the same person is meant."""
        return candidate.form in ("other", "maiden") and self._context(candidate) != FOR

    def _anchor(self, candidate: Candidate) -> int:
        """A bare name is the person who was last called so in full."""
        if self._is_somebody_else(candidate) or self._is_town(candidate):
            return AGAINST
        same = any(c.value.text == candidate.value.text and c is not candidate for c in self._strong)
        if candidate.is_strong or candidate.value.kind is not Kind.PERSON or candidate.form in ("other", "maiden"):
            return FOR if same else NOTHING
        last = self._last_full_name(candidate)
        if last is None:
            return FOR if same else NOTHING
        is_meant = any(c.start <= last < c.end for c in self._strong if c.value.label == candidate.value.label)
        return FOR if is_meant else AGAINST

    def _last_full_name(self, candidate: Candidate) -> int | None:
        """Where a name of several words with this bare name last began."""
        bare, surname = fold(self.text[candidate.start : candidate.end]), candidate.form == "surname"
        last = None
        for run in self.phrases.person_runs:
            if run.start >= candidate.start:
                break
            if len(run.words) > 1 and bare in (run.folded[-1:] if surname else run.folded[:-1]):
                last = run.start
        return last

    def _context(self, candidate: Candidate) -> int:
        label, before, after = candidate.value.label, self._before(candidate), self._after(candidate)
        if candidate.value.kind is Kind.PERSON:
            relation = next((name for name, pattern in _RELATIONS.items() if pattern.search(before)), None)
            if relation is not None:
                return FOR if relation == label else AGAINST if label in _RELATIONS else NOTHING
            if set(_lower_words(before)[-2:]) & OTHER_KIN:
                return AGAINST
        elif candidate.value.kind is Kind.ORGANISATION and self._is_job(before, after):
            return AGAINST
        cues = _cues(label)
        return FOR if cues and cues & {*_lower_words(before), *_lower_words(after)} else NOTHING

    @staticmethod
    def _is_job(before: str, after: str) -> bool:
        """Whether the nearest word that speaks of an organisation speaks of work there."""
        for word in reversed(_lower_words(before)):
            if word in JOB_CUES:
                return True
            if word in _cues("ED"):
                return False
        return bool(re.match(r" (?:Press|Hospital|faculty|professor|Library)\b", after))

    def _standing(self, candidate: Candidate) -> int:
        after = self.text[candidate.end : candidate.end + 24]
        if _JOINED.match(after) or re.search(r"\w[-/]$", self.text[: candidate.start][-2:]):
            return AGAINST
        if not candidate.is_strong and self._is_town(candidate):
            return AGAINST
        if candidate.value.kind is Kind.PERSON:
            return FOR if _PERSONAL.match(after) else NOTHING
        return FOR if candidate.is_strong else NOTHING

    def _is_town(self, candidate: Candidate) -> bool:
        """A bare name that stands there as a town does; "University of X" and its kin are never just X."""
        if candidate.is_strong:
            return False
        if candidate.value.kind is Kind.ORGANISATION:
            return self._is_named_after_town(candidate) and not self._is_study(candidate)
        if candidate.value.kind is not Kind.PERSON:
            return False
        words, after = _lower_words(self._before(candidate, 20)), self.text[candidate.end : candidate.end + 4]
        is_placed = bool(words) and words[-1] in PLACE_BEFORE and words[-1] not in ("of", "to", "from")
        known = fold(self.text[candidate.start : candidate.end]) in place_names()
        return known and (is_placed or bool(re.match(r", [A-Z]", after)))

    def _is_named_after_town(self, candidate: Candidate) -> bool:
        words = fold(self.text[candidate.start : candidate.end])
        alone = candidate.form == "part" and " " not in words
        of_university = re.search(r"\buniversi", fold(candidate.value.text)) is not None
        return (alone and of_university) or (candidate.form in ("part", "short") and words in place_names())

    def _is_study(self, candidate: Candidate) -> bool:
        """Whether a town's name stands for its university: "study at Oxford"."""
        study = re.search(
            r"\b(?:stud(?:y|ied|ying)|educated|graduated|degree|years) (?:at|from)\s$", self._before(candidate)
        )
        return candidate.value.kind is Kind.ORGANISATION and study is not None

    def _rivals(self, candidate: Candidate) -> int:
        if candidate.value.kind is not Kind.PERSON:
            return NOTHING
        here = [c for c in self.candidates if c.start < candidate.end and candidate.start < c.end]
        if any(c.value.label != candidate.value.label and (c.is_strong or not candidate.is_strong) for c in here):
            return AGAINST
        if candidate.is_strong:
            return NOTHING
        bare = fold(self.text[candidate.start : candidate.end])
        others = {tuple(r.folded) for r in self.phrases.person_runs if len(r.words) > 1 and bare in r.folded}
        own = {fold(self.text[c.start : c.end]) for c in self._strong if c.value.label == candidate.value.label}
        strangers = [name for name in others if not any(set(name) <= {*o.split(), *self.subject.words} for o in own)]
        return AGAINST if strangers else FOR

    # ---- dates

    def _date_votes(self, candidate: Candidate) -> Pattern:
        whole = candidate.form == "whole"
        before = self._before(candidate, 110)
        cued = candidate.value.label != "BD" or bool(_BORN.search(before) or self._in_lead(candidate))
        anchor = FOR if any(c.value is candidate.value for c in self._strong) else NOTHING
        context = FOR if cued and candidate.value.label == "BD" else NOTHING if whole else AGAINST
        standing = AGAINST if not whole and _DIED.search(before[-24:]) else NOTHING
        return (FOR if whole else NOTHING if cued else AGAINST, anchor, context, standing, FOR if whole else NOTHING)

    def _in_lead(self, candidate: Candidate) -> bool:
        """In the brackets behind the subject's name, where biographies put the dates of a life."""
        return candidate.start < 300 and bool(_LEAD.search(self.text[max(0, candidate.start - 80) : candidate.start]))


def _lower_words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[^\W\d_]+(?:\.[^\W\d_]+\.?)?", text)]


def _cues(label: str) -> frozenset[str]:
    return CUES.get(label, frozenset())


__all__ = ["VOTERS", "Ballot"]
