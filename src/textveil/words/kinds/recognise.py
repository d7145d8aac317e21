"""Which words of a text are numbers, dates or codes, by their form alone."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any, NamedTuple

from textveil.text import tokens
from textveil.words.kinds import codes, dates, numbers

_NUMBER = re.compile(rf"[0-9]{{1,{numbers.MOST_DIGITS}}}")
_CODE = re.compile(rf"(?=[a-z0-9]*[0-9])(?=[a-z0-9]*[a-z])[a-z0-9]{{2,{codes.MOST_CHARACTERS}}}")


class KindOfWord(NamedTuple):
    """One number, date or code: the places of its words in the text (three for a date), and what is drawn from."""

    kind: str  # number, date or code
    places: tuple[int, ...]
    value: Any  # the digits, the form and day of a date, or the code in lower case


def recognise(pieces: list[str], kept: Set[str] = frozenset()) -> list[KindOfWord]:
    """All of them, in their order; `pieces` are separators and words in turn. Kept words are none.

    >>> [found[:2] for found in recognise(tokens.split("Pay 20.50 by 3/14/2021, AB1")[0])]
    [('number', (1,)), ('number', (2,)), ('date', (4, 5, 6)), ('code', (7,))]
    """
    words = [tokens.fold(word) for word in pieces[1::2]]
    found: list[KindOfWord] = []
    place = 0
    while place < len(words):
        day = _date_at(place, words, pieces, kept)
        if day is not None:
            found.append(KindOfWord("date", (place, place + 1, place + 2), day))
            place += 3
            continue
        word = words[place]
        if word not in kept:
            if _NUMBER.fullmatch(word):
                found.append(KindOfWord("number", (place,), word))
            elif _CODE.fullmatch(word):
                found.append(KindOfWord("code", (place,), word))
        place += 1
    return found


def _date_at(place: int, words: list[str], pieces: list[str], kept: Set[str]) -> tuple[dates.DateForm, int] | None:
    """A date that begins here: three numbers with the same -, / or . between them, and not part of a longer row."""
    parts = tuple(words[place : place + 3])
    gaps = pieces[2 * place : 2 * place + 7 : 2]
    if len(parts) < 3 or gaps[1] != gaps[2] or gaps[1] not in ("-", "/", ".") or gaps[1] in (gaps[0], gaps[3]):
        return None
    if not all(_NUMBER.fullmatch(part) for part in parts) or any(part in kept for part in parts):
        return None
    return dates.read(parts, gaps[1])  # type: ignore[arg-type]
