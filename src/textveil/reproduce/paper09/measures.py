"""Measures of paper 09: figures that stand inside a cell with intervals over documents."""

from __future__ import annotations

from textveil.reproduce.measures import by_name, value_of
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure


def within_cell(
    results: Results, *, kind: str, model: str, labels: str, reading: str, test: str, number: str, label: str
) -> list[Measure]:
    """One score of a recogniser on one test, with its interval over documents; of several seeds, each."""
    return [
        Measure(
            f"{label}, {test}, {number}",
            *(value_of(cell, [reading, test, number, name]) for name in ("value", "low", "high")),
            n=int(value_of(cell, [reading, test, number, "tries"])),
        )
        for cell in results.of(kind, model=model, labels=labels)
    ]


def inside(results: Results, *, kind: str, path: list[str], label: str) -> list[Measure]:
    """A score anywhere inside the cells of a kind, with its interval over documents."""
    return [
        Measure(
            f"{label}, {path[-1]}",
            *(value_of(cell, [*path, name]) for name in ("value", "low", "high")),
            n=int(value_of(cell, [*path, "tries"])),
        )
        for cell in results.of(kind)
    ]


def crf_less_transformer(results: Results, *, reading: str) -> list[Measure]:
    """Strict F1 on the manual test: the CRF less the transformer; the half-width is the larger of the two."""
    both = [
        within_cell(
            results, kind=kind, model=model, labels="said", reading=reading, test="manual", number="strict", label=model
        )
        for kind, model in (("recogniser", "crf"), ("transformer", "transformer"))
    ]
    if not all(both):
        return []
    one, other = both[0][0], both[1][0]
    reach = max(one.high - one.low, other.high - other.low) / 2
    gap = one.value - other.value
    return [Measure("CRF less transformer, strict", gap, gap - reach, gap + reach, n=one.n)]


MEASURES = by_name(within_cell, inside, crf_less_transformer)
