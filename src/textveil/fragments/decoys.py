"""Decoys: phrase pairs that stand nowhere in the text, so that pieces which fit together need not belong together.

A decoy is the end of one phrase pair and the beginning of another, taken from two places at random, on both sides:
its words and their translations are right, only their being neighbours is made up. It hides nothing by itself; what
it does to the attacks is measured (`fragments risk`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = Sequence[str]


def decoys_of(rows: Sequence[Row], count: int, longest: int, longest_target: int, noise: Any) -> list[list[str]]:
    """At most `count` decoys, none longer than a real phrase may be.

    >>> from textveil.noise import seeded
    >>> decoys_of([["a b", "x"], ["c", "y z"]], 1, 4, 4, seeded(3)) in ([["a b c", "x y z"]], [["c a b", "y z x"]])
    True
    """
    if len(rows) < 2:
        return []
    made = list[list[str]]()
    draws = noise.below(len(rows), (4 * count, 2)).tolist()  # some joins are too long
    for first, second in draws:
        if len(made) == count:
            break
        if first == second:
            continue
        source, target = f"{rows[first][0]} {rows[second][0]}", f"{rows[first][1]} {rows[second][1]}"
        if len(source.split()) <= longest and len(target.split()) <= longest_target:
            made.append([source, target])
    return made


__all__ = ["decoys_of"]
