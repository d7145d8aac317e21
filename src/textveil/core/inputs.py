"""What counts as texts: one check for whoever is given some.

A string is a sequence of characters, a table is a sequence of its column names and a dict one of its keys: each would be
veiled, charged and released as if it were texts. They are refused with the fix, before anything is charged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from .errors import BadInput

Texts = Any  # a list, tuple, Series or array of strings: what `check_texts` lets through


def check_texts(data: Any) -> None:
    """Refuse what is no list, tuple, series or array of strings. An iterator is not consumed: see `texts_of`.

    >>> check_texts(["one", "two"])
    >>> check_texts("one")
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadInput: a list of texts is needed, not one text; possible: [text]
    """
    if isinstance(data, (str, bytes, bytearray)):
        raise BadInput("a list of texts is needed, not one text", possible="[text]")
    if isinstance(data, Mapping):
        raise _no_texts(data, "one entry of it, e.g. table['text'], or list(texts.values())")
    if len(getattr(data, "shape", (1,))) != 1:
        raise _no_texts(data, "one column of it, e.g. table['text']")
    if isinstance(data, Set) or not isinstance(data, Iterable):
        raise _no_texts(data, "a list of strings")
    if not isinstance(data, Iterator):
        _check_each(data)


def texts_of(data: Iterable[str]) -> list[str]:
    """Texts as a list, each of them checked.

    >>> texts_of(text for text in ("one", "two"))
    ['one', 'two']
    """
    check_texts(data)
    texts = list(data)
    if isinstance(data, Iterator):  # whatever else there is has been looked at
        _check_each(texts)
    return texts


def in_series(data: Any, texts: list[str]) -> Any:
    """New texts in a pandas Series with the index and the name of the one that was given, else as they are.

    >>> in_series(["one"], ["two"])
    ['two']
    """
    kind = type(data)
    if kind.__name__ != "Series" or kind.__module__.partition(".")[0] != "pandas":  # "pandas.core.series" before 3
        return texts
    return kind(texts, index=data.index, name=data.name)


def _check_each(texts: Iterable[Any]) -> None:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(f"text {number} is a {type(text).__name__}, not a string", possible="a list of strings")


def _no_texts(data: Any, possible: str) -> BadInput:
    return BadInput(f"a list of texts is needed, not '{type(data).__name__}'", possible=possible)


__all__ = ["Texts", "check_texts", "in_series", "texts_of"]
