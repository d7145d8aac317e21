"""Automatic labels without records: what a biography says about its subject in fixed phrases ("his wife ...").

Whole biographies with a name and no infobox (db_bio) are many; an institution has such documents too, where a record was
lost. Every run of capitalised words becomes a sign, and the phrases below are looked for between the signs:

    BD   the date behind "born", or behind the subject's own name and a bracket
    PR   "son of", "born to", "his father"      SP   "married", "her husband", "wife of"
    CH   "his daughters", "mother of"

Then the same name is marked wherever else it stands (`spread`). A sentence with a word of kinship and no mark is left out:
nobody knows what it holds. The phrases were written with db_bio and the marked articles in sight, never the gold passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from textveil.pii.annotate.phrases import Phrases, Run
from textveil.pii.annotate.repair import DATE
from textveil.pii.annotate.wordlists import CUES, fold, is_place_name
from textveil.pii.bio import tags_of, token_places
from textveil.pii.spans import Span, without_overlaps

from .data import Sentence, rows
from .spread import spread

SIGN, SELF = "¤", "§"  # a name, and one of the subject's own names
_NAME = rf"{SIGN}\d+(?: \([^)]*\))?"
_NAMES = rf"(?P<names>{_NAME}(?:,? (?:and |& |)(?:(?:his|her|the|wife|husband|sons?|daughters?) ){{0,2}}{_NAME})*)"
_WHO = r"(?:[a-z]+,? ){0,4}"
_OWN = rf"(?:[Hh]is|[Hh]er|{SELF} ?['’]s) (?:[\w-]+ ){{0,2}}"
_OTHERS = rf"(?<!{SIGN}\d, the )(?<!{SIGN}\d, )(?<!{SIGN}\d\d, the )(?<!{SIGN}\d was the )(?<!his )(?<!her )"
_PHRASES = {
    "SP": (
        rf"\b(?:married|marry|marrying|remarried|wed|engaged)(?: [^.;,{SIGN}]{{0,20}})?(?: to)? {_WHO}(?P<names>{SIGN}\d+)",
        rf"{_OWN}(?:wife|husband|spouse|widow|widower|fianc[ée]e?|girlfriend|boyfriend),? (?:was |is )?{_WHO}"
        rf"(?P<names>{SIGN}\d+)",
        rf"{_OTHERS}\b(?:wife|husband|widow|widower|spouse|consort) of {_WHO}(?P<names>{SIGN}\d+)",
        rf"\bmarriage (?:to|with) {_WHO}(?P<names>{SIGN}\d+)",
    ),
    "PR": (
        rf"{_OTHERS}\b(?:son|daughter|child) (?:of|to) {_WHO}{_NAMES}",
        rf"\bborn (?:(?:(?!\b(?:and|moved|went|who)\b)[^.;]){{0,80}} )?to {_WHO}{_NAMES}",
        rf"{_OWN}(?:father|mother|parents),? (?:was |is |were )?(?:named )?{_WHO}{_NAMES}",
    ),
    "CH": (
        rf"\b(?:[Hh]is|[Hh]er|[Tt]heir|had|has|have|by|{SELF} ?['’]s) (?:[\w-]+ ){{0,4}}"
        rf"(?:sons?|daughters?|children|child|kids)[,:]? (?:named |are |were |is |called |– )?{_WHO}{_NAMES}",
        rf"\b(?:father|mother|parents) (?:of|to) {_WHO}{_NAMES}",
    ),
}
PHRASES = tuple((label, re.compile(phrase)) for label, phrases in _PHRASES.items() for phrase in phrases)
_BORN = re.compile(r"\b(?:born|Born)\b[^.;]{0,90}$")
_BRACKET = re.compile(r"\([^()]{0,60}$")
_ABBREVIATED = re.compile(r"(?:\b[A-Z]|\b(?:Dr|Mr|Mrs|Ms|St|Jr|Sr|Prof|Gen|Col|Sgt|Lt|Capt|Rev|c))\.\s*$")
_HIMSELF = re.compile(r"^(?:He|She|Born)\b")
_KIN = CUES["PR"] | CUES["SP"] | CUES["CH"]


@lru_cache(maxsize=2)
def said_sentences(data: Path, most: int) -> tuple[Sentence, ...]:
    """Sentences of the first biographies, marked by phrases; one in ten of those that hold nothing."""
    sentences: list[Sentence] = []
    for number, row in enumerate(rows(data, "db_bio_train")):
        if number == most:
            break
        sentences += _of_biography(f"said-{number}", row["person"], row["text"])
    return tuple(sentences)


def _of_biography(name: str, person: str, text: str) -> Iterator[Sentence]:
    title = tuple(person.split(" (")[0].split())
    phrases = Phrases(text)
    starts = [at for at in phrases.sentence_starts if not _ABBREVIATED.search(text[max(0, at - 8) : at])]
    edges = [*starts, len(text)]
    own = []
    for number, (first, last) in enumerate(pairwise(edges)):
        sentence = text[first:last].strip()
        places = list(token_places(sentence))
        words = tuple(sentence[a:b] for a, b in places)
        if words:
            spans = said_spans(sentence, title, is_first=number == 0)
            own.append(Sentence(name, number, words, tuple(tags_of(places, spans)), title))
    tags = spread([list(s.words) for s in own], [list(s.tags) for s in own], title)
    empty = 0
    for sentence_, new in zip(own, tags, strict=True):
        marked = Sentence(name, sentence_.number, sentence_.words, tuple(new), title)
        doubtful = not marked.has_entity and bool(_KIN & {w.lower() for w in marked.words})
        empty += not marked.has_entity
        if marked.has_entity or (not doubtful and empty % 10 == 1):
            yield marked


def said_spans(sentence: str, title: tuple[str, ...], *, is_first: bool = False) -> list[Span]:
    """What a sentence says about the subject.

    >>> text = "Ada (born 10 December 1815) was a daughter of Anne Milbanke and married William King."
    >>> [(s.of(text), s.label) for s in said_spans(text, ("Ada",), is_first=True)]
    [('10 December 1815', 'BD'), ('Anne Milbanke', 'PR'), ('William King', 'SP')]
    """
    own = {fold(word) for word in title}
    runs = [run for run in Phrases(sentence).person_runs if own & set(run.folded) or not _is_place(run)]
    signs = _with_signs(sentence, runs, own)
    spans = [
        Span(runs[number].start, runs[number].end, label)
        for label, phrase in PHRASES
        for found in phrase.finditer(signs)
        for number in map(int, re.findall(rf"{SIGN}(\d+)", found["names"]))
    ]
    is_own = is_first or bool(_HIMSELF.search(sentence)) or bool(own & set(map(fold, sentence.split()[:4])))
    births = _births(sentence, is_first) if is_own else iter(())
    return without_overlaps(sorted({*spans, *births}, key=lambda s: (s.start, s.label)))


def said_tags(sentence: Sentence) -> list[str]:
    """What a sentence says, as tags of its words."""
    text, places = "", []
    for word in sentence.words:
        if text and not (word in ",.;:)" or text.endswith("(")):
            text += " "
        places.append((len(text), len(text) + len(word)))
        text += word
    return tags_of(places, said_spans(text, sentence.title, is_first=sentence.number == 0))


def _is_place(run: Run) -> bool:
    """Whether a run is a town, a country or an institution."""
    institution = {"university", "states", "nations", "city"} & set(run.folded)
    return bool(institution) or is_place_name(" ".join(run.folded))


def _with_signs(sentence: str, runs: list[Run], own: set[str]) -> str:
    pieces, last = [], 0
    for number, run in enumerate(runs):
        sign = f"{SIGN}{number}" if set(run.folded) - own else SELF
        pieces += [sentence[last : run.start], sign]
        last = run.end
    return "".join([*pieces, sentence[last:]])


def _births(sentence: str, is_first: bool) -> Iterator[Span]:
    """The first date behind "born", or in the bracket of the first sentence."""
    for found in DATE.finditer(sentence):
        before = sentence[: found.start()]
        if _BORN.search(before) or (is_first and _BRACKET.search(before)):
            yield Span(found.start(), found.end(), "BD")
            return


__all__ = ["said_sentences", "said_spans", "said_tags"]
