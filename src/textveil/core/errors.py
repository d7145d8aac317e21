"""Every error a user can meet, sorted by remedy.

    TextveilError
    ├── BadInput          the caller can mend it: exit code 2; a ValueError too
    │   ├── BadParameter  a value outside its range
    │   ├── UnknownName   a name that does not exist; lists those that do, nearest first
    │   └── NotFitted     asked before `fit`; scikit-learn's NotFittedError too, where that is loaded
    ├── Refused           the privacy rules say no: exit code 1
    │   ├── BudgetExceeded
    │   ├── OtherData     this ledger belongs to another data set
    │   └── BrokenChain   a ledger line was altered, removed or reordered
    └── CannotAdd         two losses that have no sum (other unit, adjacency or metric)

A message is one sentence: what is wrong, where, what is possible. It never quotes private text: a bad cell is named by
file, line and field, not by its content.
"""

from __future__ import annotations

import difflib
import functools
import sys
from collections.abc import Iterable
from typing import Any


class TextveilError(Exception):
    """Base of all errors raised on purpose; the command line prints the message and exits with `exit_code`."""

    exit_code = 2


class BadInput(TextveilError, ValueError):
    """Bad data, file or usage.

    >>> str(BadInput("is not valid JSON", where="notes.jsonl", line=7, possible="one JSON object per line"))
    'notes.jsonl, line 7: is not valid JSON; possible: one JSON object per line'
    """

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        line: int | None = None,
        field: str | None = None,
        possible: str | None = None,
    ):
        place = [str(where)] if where is not None else []
        if line is not None:
            place.append(f"line {line:,}".replace(",", ""))
        if field is not None:
            place.append(f"field '{field}'")
        text = (", ".join(place) + ": " if place else "") + what
        super().__init__(text + (f"; possible: {possible}" if possible else ""))
        self.what, self.where, self.line, self.field, self.possible = what, where, line, field, possible


class BadParameter(BadInput):
    """A parameter outside its range.

    >>> str(BadParameter("epsilon", -1, "a finite number above 0"))
    'epsilon must be a finite number above 0, not -1'
    """

    def __init__(self, name: str, value: object, allowed: str):
        super().__init__(f"{name} must be {allowed}, not {value!r}")
        self.name, self.value, self.allowed = name, value, allowed


class UnknownName(BadInput, KeyError):
    """A name that does not exist, with those that do, the nearest first.

    >>> str(UnknownName("mechanism", "words.bbr", ["words.laplace", "words.brr"]))
    "unknown mechanism 'words.bbr'; there are: words.brr, words.laplace"
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        ranked = nearest_first(name, known)
        super().__init__(f"unknown {kind} '{name}'; there are: {', '.join(ranked) if ranked else 'none'}")
        self.name, self.known = name, ranked

    __str__ = Exception.__str__  # KeyError would print the repr


class NotFitted(BadInput, AttributeError):
    """An estimator that was asked for what only `fit` gives it. Made by `not_fitted`."""

    def __reduce__(self) -> Any:
        return _rebuilt, (str(self),)


def not_fitted(estimator: object, possible: str = "fit first") -> NotFitted:
    """The error of an estimator that has not been fitted; with scikit-learn loaded it is a `NotFittedError` as well.

    Whoever can catch that has loaded scikit-learn, so nothing is imported for it here.

    >>> str(not_fitted([], "fit(texts)"))
    'list has not been fitted; possible: fit(texts)'
    """
    return _unfitted_class("sklearn.exceptions" in sys.modules)(
        f"{type(estimator).__name__} has not been fitted", possible=possible
    )


@functools.cache
def _unfitted_class(with_sklearn: bool) -> type[NotFitted]:
    if not with_sklearn:
        return NotFitted
    theirs = sys.modules["sklearn.exceptions"].NotFittedError
    return type("NotFitted", (NotFitted, theirs), {"__doc__": NotFitted.__doc__, "__module__": __name__})


def _rebuilt(message: str) -> NotFitted:
    """The error as another process sent it."""
    return _unfitted_class("sklearn.exceptions" in sys.modules)(message)


class Refused(TextveilError):
    """The privacy rules say no. Nothing was released."""

    exit_code = 1


class BudgetExceeded(Refused):
    """A charge that its budget does not cover."""


class OtherData(Refused):
    """A ledger keeps the account of one data set, and this is another one."""


class BrokenChain(Refused):
    """The ledger's lines do not hash to what was recorded."""


class CannotAdd(TextveilError, TypeError):
    """Two losses that have no sum: they stand side by side instead."""


class UnrecordedWarning(UserWarning):
    """Noise was drawn a second time outside of any ledger: for the same data the losses add up, and nobody records it."""


def nearest_first(name: str, known: Iterable[str]) -> list[str]:
    """`known`, the most similar to `name` first."""
    return sorted(known, key=lambda k: (-difflib.SequenceMatcher(None, name, k).ratio(), k))
