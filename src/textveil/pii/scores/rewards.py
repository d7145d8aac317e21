"""What a found span earns beside a gold span, as the paper (its Section 3 and Table 3) and as SemEval-2013 task 9
define it.

                                            paper                       SemEval
    strict    boundary and type match       1                           1
    exact     boundary matches              1                           1
    type      type matches, spans overlap   1 if the boundary matches   1
                                            too, else 0.5
    partial   spans overlap                 1 if strict, else 0.5       1 if the boundary matches, else 0.5

So they differ in two places: overlap with the right type (type: 0.5 or 1), and the exact boundary with the wrong type
(partial: 0.5 or 1). Spans that do not overlap earn nothing.
"""

from __future__ import annotations

from enum import StrEnum

from textveil.pii.spans import Span

MEASURES = ("strict", "exact", "type", "partial")


class Scheme(StrEnum):
    PAPER = "paper"
    SEMEVAL = "semeval"


def reward(gold: Span, found: Span, measure: str, scheme: Scheme = Scheme.PAPER) -> float:
    """What `found` earns beside `gold` in one measure.

    >>> gold, found = Span(0, 10, "NAME"), Span(0, 4, "NAME")
    >>> reward(gold, found, "type"), reward(gold, found, "type", Scheme.SEMEVAL)
    (0.5, 1.0)
    """
    if not gold.overlaps(found):
        return 0.0
    boundary = (gold.start, gold.end) == (found.start, found.end)
    label = gold.label == found.label
    if measure == "strict":
        return float(boundary and label)
    if measure == "exact":
        return float(boundary)
    if measure == "type":
        return float(label) if boundary or scheme is Scheme.SEMEVAL else 0.5 * label
    whole = boundary if scheme is Scheme.SEMEVAL else boundary and label
    return 1.0 if whole else 0.5


__all__ = ["MEASURES", "Scheme", "reward"]
