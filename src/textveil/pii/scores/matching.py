"""Matching of found spans to gold spans: one to one, of the largest total reward, and free of any order.

Claim. The total reward of a best matching is a property of the two sets of spans: whatever order they are given in,
it is the same number. It is found exactly (`linear_sum_assignment`) in each group of spans that overlap one another;
groups do not interact. Where several found spans cover one gold span, the best of them earns the reward and the
others are found wrongly.

For counts of errors one matching has to be chosen among equally good ones: spans are put in their own order first, so
it is the same one whatever order they came in. A found span that is there twice counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from textveil.pii.spans import Span

from .rewards import Scheme, reward


class Pair(NamedTuple):
    """A gold span and the found span it was matched to; one of them may be missing."""

    gold: Span | None
    found: Span | None


def bare(spans: Iterable[Span]) -> list[Span]:
    """Spans without scores and rules, each once, in their own order."""
    return sorted({Span(s.start, s.end, s.label) for s in spans})


def groups(gold: list[Span], found: list[Span]) -> list[tuple[list[Span], list[Span]]]:
    """Spans of both sides that hang together by overlaps; both lists sorted."""
    marked = sorted([(s, 0) for s in gold] + [(s, 1) for s in found])
    parts: list[tuple[list[Span], list[Span]]] = []
    end = -1
    for span, side in marked:
        if span.start >= end:
            parts.append(([], []))
        parts[-1][side].append(span)
        end = max(end, span.end)
    return parts


def _assigned(gold: list[Span], found: list[Span], worth: Callable[[Span, Span], float]) -> list[tuple[int, int]]:
    if not gold or not found:
        return []
    table = np.array([[worth(g, f) for f in found] for g in gold])
    rows, columns = linear_sum_assignment(table, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if table[r, c] > 0]


def total_reward(gold: list[Span], found: list[Span], measure: str, scheme: Scheme = Scheme.PAPER) -> float:
    """The reward of the best matching of one document, both sides bare and sorted."""
    total = 0.0
    for own_gold, own_found in groups(gold, found):
        pairs = _assigned(own_gold, own_found, lambda g, f: reward(g, f, measure, scheme))
        total += sum(reward(own_gold[r], own_found[c], measure, scheme) for r, c in pairs)
    return total


def matched(gold: Iterable[Span], found: Iterable[Span]) -> list[Pair]:
    """All spans of a document in pairs: strict ones before others, larger overlaps before smaller; then what is left."""
    gold, found = bare(gold), bare(found)
    pairs: list[Pair] = []
    for own_gold, own_found in groups(gold, found):
        links = _assigned(own_gold, own_found, _likeness)
        pairs += [Pair(own_gold[r], own_found[c]) for r, c in links]
        pairs += [Pair(g, None) for n, g in enumerate(own_gold) if n not in {r for r, _ in links}]
        pairs += [Pair(None, f) for n, f in enumerate(own_found) if n not in {c for _, c in links}]
    return pairs


def _likeness(gold: Span, found: Span) -> float:
    shared = min(gold.end, found.end) - max(gold.start, found.start)
    if shared <= 0:
        return 0.0
    likeness = shared / (max(gold.end, found.end) - min(gold.start, found.start))
    return likeness + (gold.label == found.label) + (likeness == 1.0)


__all__ = ["Pair", "bare", "groups", "matched", "total_reward"]
