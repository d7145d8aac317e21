"""What a pattern is: an expression, a check, and the words beside it that speak for or against it.

Score of a finding, a stated estimate of how often such a finding is right:

    expression and check hold                                   score
    one of `context` stands near                                raised to `with_context`
    one of `against` stands near (and none of `context`)        three tenths of it

"Near" is within 60 characters before and 30 after, as whole words in lower case. A rule whose score lies below the
threshold and whose `with_context` lies above it is one that needs its context. The words that counted stand in the span.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from textveil.text.spans import Span

BEFORE, AFTER = 60, 30  # characters of context
DOUBT = 0.3  # what is left of a score beside a word that speaks against it
_WORDS = re.compile(r"[^\W_]+")
_SEPARATORS = str.maketrans("", "", " -./()\u00a0\u2011\u2013")


@dataclass(frozen=True)
class Rule:
    """One pattern. It is tried where a run of letters and digits begins that holds a digit.

    `run` is the range of that run's length, `letters` whether the run begins with a letter: most rules are dismissed by
    these two. `before` has to match right before the finding; its group
    `lead`, if it has one, belongs to it.
    """

    name: str
    label: str
    regex: str
    score: float
    run: tuple[int, int]
    letters: bool = False
    check: Callable[[str], bool] | None = None
    context: str = ""
    with_context: float | None = None
    against: str = ""
    before: str = ""
    plain: bool = True  # the check sees capitals without separators; otherwise the finding as it stands

    @cached_property
    def _parts(self) -> Any:
        """Compiled once: expression, what stands before it, words for it, words against it."""
        before = re.compile(f"(?:{self.before})\\Z", re.IGNORECASE) if self.before else None
        return (
            re.compile(self.regex + r"(?!\w)", re.IGNORECASE),
            before,
            frozenset(self.context.split()),
            frozenset(self.against.split()),
        )

    def match(self, text: str, start: int) -> Span | None:
        """The finding that begins here, with its score and the words that counted."""
        regex, before, _, _ = self._parts
        hit = regex.match(text, start)
        if hit is None:
            return None
        led = None if before is None else before.search(text, max(0, start - BEFORE), start)
        if before is not None and led is None:
            return None
        if self.check is not None:
            number = hit.group()
            if not self.check(number.translate(_SEPARATORS).upper() if self.plain else number):
                return None
        if led is not None and "lead" in led.groupdict():
            start = led.start("lead")
        return self.scored(text, start, hit.end())

    def scored(self, text: str, start: int, end: int) -> Span:
        """A finding with its score."""
        _, _, supporting, opposing = self._parts
        if not supporting and not opposing:
            return Span(start, end, self.label, self.score, self.name)
        beside = near_words(text, start, end)
        if supporting and self.with_context is not None and (words := beside & supporting):
            return Span(start, end, self.label, self.with_context, self.name, tuple(sorted(words)))
        if opposing and (words := beside & opposing):
            return Span(start, end, self.label, self.score * DOUBT, self.name, tuple(f"not:{w}" for w in sorted(words)))
        return Span(start, end, self.label, self.score, self.name)


def near_words(text: str, start: int, end: int) -> set[str]:
    """The words near a finding, in lower case; a word that the window cuts is left out.

    >>> sorted(near_words("Call my mobile: 555 2368 now", 16, 24))
    ['call', 'mobile', 'my', 'now']
    """
    first, last = max(0, start - BEFORE), min(len(text), end + AFTER)
    before, after = text[first:start], text[end:last]
    if first and text[first - 1].isalnum():
        before = before.partition(" ")[2]
    if last < len(text) and text[last].isalnum():
        after = after.rpartition(" ")[0]
    return set(_WORDS.findall(before.lower())) | set(_WORDS.findall(after.lower()))


__all__ = ["Rule", "near_words"]
