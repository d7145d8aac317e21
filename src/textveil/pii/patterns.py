"""The recogniser by patterns: one pass over the numbers of a text, and a few expressions where their signs occur.

A text is searched once for runs of letters and digits that hold a digit. The length of a run, and whether it begins with
a letter, choose the rules that are tried there (a table made at start), so that fifty rules cost little more than a few.
E-mail and internet addresses are found first, and no number is looked for inside of them. The scores are stated
estimates: `pii.thresholds` fits them to a reviewed sample.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from textveil.pii import rules_contact, rules_ids, rules_words
from textveil.pii.rules import Rule
from textveil.text.spans import Span, without_overlaps

LEAST = 0.5  # score below which a finding is dropped, where no threshold of its label says otherwise
_RUN = re.compile(r"(?<![^\W_])[^\W\d_]{0,6}+[0-9][^\W_]*+")  # letters, then a digit, then letters and digits
_LONGEST = 45


class PatternRecogniser:
    """Finds by rule.

    Parameters
    ----------
    labels
        Only these; None: all.
    thresholds
        The least score by label; others have `least`.
    least
        The least score of labels without a threshold.

    >>> text = "Mail anna@example.org or call +49 30 1234567. Card 4111 1111 1111 1111."
    >>> [(s.label, s.of(text), s.rule) for s in PatternRecogniser().find([text])[0]]  # doctest: +NORMALIZE_WHITESPACE
    [('EMAIL_ADDRESS', 'anna@example.org', 'email'), ('PHONE_NUMBER', '+49 30 1234567', 'phone +'),
     ('CREDIT_CARD', '4111 1111 1111 1111', 'card')]
    """

    name = "patterns"

    def __init__(
        self, labels: Sequence[str] | None = None, thresholds: dict[str, float] | None = None, least: float = LEAST
    ):
        chosen = None if labels is None else frozenset(labels)
        numbers = [r for r in (*rules_contact.RULES, *rules_ids.RULES) if chosen is None or r.label in chosen]
        self._words = [r for r in (rules_words.EMAIL, *rules_words.RULES) if chosen is None or r.label in chosen]
        self._thresholds, self._least = dict(thresholds or {}), least
        self._tried = _table(numbers)
        self.labels = tuple(sorted({r.label for r in numbers} | {r.label for r in self._words}))

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text, none of which overlap: the surer one stays, then the longer one."""
        return [self.find_one(text) for text in texts]

    def find_one(self, text: str) -> list[Span]:
        """The spans of one text."""
        found = [span for span in self.candidates(text) if span.score >= self._threshold(span.label)]
        return found if len(found) < 2 else without_overlaps(found)

    def candidates(self, text: str) -> list[Span]:
        """All findings with their scores, overlapping and unsure ones too."""
        found = self._by_words(text)
        addresses = [(s.start, s.end) for s in found if s.label in ("EMAIL_ADDRESS", "URL")]
        for hit in _RUN.finditer(text):
            start, end = hit.span()
            rules = self._tried.get((text[start].isdigit(), min(end - start, _LONGEST)))
            if rules and not any(a <= start < b for a, b in addresses):
                found += [span for rule in rules if (span := rule.match(text, start)) is not None]
        return found

    def _by_words(self, text: str) -> list[Span]:
        found = []
        for rule in self._words:
            if rule.trigger in text:
                for hit in rule.regex.finditer(text):
                    if rule.check is None or rule.check(hit.group("it")):
                        start, end = hit.span("it")
                        found.append(Span(start, end, rule.label, rule.score, rule.name))
        return found

    def _threshold(self, label: str) -> float:
        return self._thresholds.get(label, self._least)


def _table(rules: Sequence[Rule]) -> dict[tuple[bool, int], tuple[Rule, ...]]:
    """The rules to try at a run, by whether it begins with a digit and by its length."""
    table: dict[tuple[bool, int], list[Rule]] = defaultdict(list)
    for rule in rules:
        for length in range(rule.run[0], min(rule.run[1], _LONGEST) + 1):
            table[not rule.letters, length].append(rule)
    return {key: tuple(listed) for key, listed in table.items()}


__all__ = ["LEAST", "PatternRecogniser"]
