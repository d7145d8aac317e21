"""A name that was found once is the same person throughout a passage: its other mentions get its label.

The gold passages mark every mention of a value, as their description says. A mention is a run of capitalised words, all of
them words of the name that was found or of the title, at least one of them of the name and not of the title: "Mary",
"Mary Todd" and "Mary Lincoln" after "Mary Todd Lincoln" in a page on Abraham Lincoln. Runs that fit people of two labels stay
as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textveil.pii.annotate.wordlists import NOT_NAMES, PARTICLES, fold
from textveil.pii.bio import OUTSIDE, runs

PEOPLE = frozenset({"PR", "SP", "CH"})
Person = tuple[str, frozenset[str]]  # the label, and the words that only this person has


def spread(words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], title: Sequence[str]) -> list[list[str]]:
    """The tags of a passage's sentences, with the other mentions of its people.

    >>> text = [["Anna", "Bo", "sang", "."], ["Then", "Bo", "left", "."], ["Anna", "Lee", "left"]]
    >>> spread(text, [["B-SP", "I-SP", "O", "O"], ["O"] * 4, ["O"] * 3], ["Carl"])[1:]
    [['O', 'B-SP', 'O', 'O'], ['O', 'O', 'O']]
    """
    own = frozenset(map(fold, title))
    people = [
        (label, name - own)
        for sentence, their in zip(words, tags, strict=True)
        for first, last, label in runs(their, repair=True)
        if label in PEOPLE and (name := _name_words(sentence[first : last + 1])) - own
    ]
    return [_marked(list(sentence), list(their), people, own) for sentence, their in zip(words, tags, strict=True)]


def _name_words(words: Sequence[str]) -> frozenset[str]:
    return frozenset(fold(word) for word in words if word[:1].isupper() and len(word) > 1)


def _marked(words: list[str], tags: list[str], people: list[Person], title: frozenset[str]) -> list[str]:
    for start, end in _capital_runs(words):
        run = _name_words(words[start:end])
        labels = {label for label, name in people if run & name and run <= name | title}
        if len(labels) == 1 and set(tags[start:end]) == {OUTSIDE}:
            label = labels.pop()
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def _capital_runs(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where capitalised words stand together, particles between them taken in."""
    start = None
    for place, word in enumerate([*words, ""]):
        is_name = word[:1].isupper() and fold(word) not in NOT_NAMES
        if is_name and start is None:
            start = place
        elif not is_name and start is not None:
            if word.lower() in PARTICLES and place + 1 < len(words) and words[place + 1][:1].isupper():
                continue
            yield start, place
            start = None


__all__ = ["spread"]
