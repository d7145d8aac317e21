"""Checks of single parameters, with one sentence form: "<name> must be <allowed>, not <value>".

Each check returns the value, converted, so that it can stand in an assignment:

>>> positive("epsilon", 0.5)
0.5
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection
from importlib.util import find_spec
from typing import Any

from .errors import BadInput, BadParameter, UnknownName


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    if not _is_number(value) or not math.isfinite(value) or value <= 0:
        raise BadParameter(name, value, "a finite number above 0")
    return float(value)


def non_negative(name: str, value: Any) -> float:
    """A number that is 0 or more (infinity is allowed: a loss may be unbounded)."""
    if not _is_number(value) or math.isnan(value) or value < 0:
        raise BadParameter(name, value, "a number of 0 or more")
    return float(value)


def fraction(name: str, value: Any) -> float:
    """A number from 0 to 1, both included."""
    if not _is_number(value) or math.isnan(value) or not 0 <= value <= 1:
        raise BadParameter(name, value, "a number from 0 to 1")
    return float(value)


def open_fraction(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if not _is_number(value) or not 0 < value < 1:
        raise BadParameter(name, value, "a number between 0 and 1")
    return float(value)


def positive_integer(name: str, value: Any) -> int:
    """A whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise BadParameter(name, value, "a whole number of 1 or more")
    return int(value)


def seed_or_none(name: str, value: Any) -> int | None:
    """A whole number of 0 or more, or None for the secure source."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise BadParameter(name, value, "a whole number of 0 or more, or None")
    return int(value)


def truth_value(name: str, value: Any) -> bool:
    """True or False, and nothing that only counts as such."""
    if not isinstance(value, bool):
        raise BadParameter(name, value, "True or False")
    return value


def choice(name: str, value: Any, allowed: Collection[str]) -> str:
    """One of a fixed set of names."""
    if value not in allowed:
        raise UnknownName(name, str(value), allowed)
    return str(value)


def needs(extra: str, *packages: str) -> None:
    """Refuse, before anything is charged, where an optional package is missing.

    >>> needs("fast", "json")
    >>> needs("fast", "no_such_package")
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadInput: this needs no_such_package, which is not installed; possible: pip install -e '.[fast]' in a
    checkout of Textveil
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise BadInput(
            f"this needs {' and '.join(missing)}, which {verb} not installed",
            possible=install_hint(extra),
        )


def install_hint(extra: str) -> str:
    """How the optional packages of an extra are installed."""
    return f"pip install -e '.[{extra}]' in a checkout of Textveil"


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
