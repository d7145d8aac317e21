"""All numbers, dates and codes of some texts drawn, and put at their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from textveil.noise import Source
from textveil.words.kinds import codes, dates, numbers
from textveil.words.kinds.recognise import KindOfWord, recognise

DIAMETER = max(numbers.DIAMETER, dates.DIAMETER, float(codes.MOST_CHARACTERS))
_DRAW: dict[str, Callable[..., Sequence[Any]]] = {"number": numbers.draw, "date": dates.draw, "code": codes.draw}


def in_texts(cut: Sequence[list[str]], kept: Set[str]) -> list[list[KindOfWord]]:
    """Those of each text, their places numbered through all texts; `cut` holds separators and words in turn."""
    found, first = [], 0
    for pieces in cut:
        own = recognise(pieces, kept)
        found.append([word._replace(places=tuple(first + place for place in word.places)) for word in own])
        first += len(pieces) // 2
    return found


def draw_kinds(texts: Sequence[Sequence[KindOfWord]], epsilon: float, noise: Source, *, once: bool) -> dict[int, str]:
    """The new word of each place; `places` are numbered through all texts. With `once`, equal ones of a text share a draw."""
    new: dict[int, str] = {}
    for kind, draw in _DRAW.items():
        groups: dict[object, list[KindOfWord]] = {}
        for number, text in enumerate(texts):
            for word in text:
                if word.kind == kind:
                    groups.setdefault((number, word.value if once else word.places), []).append(word)
        if not groups:
            continue
        drawn = draw([members[0].value for members in groups.values()], epsilon, noise)
        for members, written in zip(groups.values(), drawn, strict=True):
            parts = (written,) if isinstance(written, str) else written
            new.update((place, part) for word in members for place, part in zip(word.places, parts, strict=True))
    return new
