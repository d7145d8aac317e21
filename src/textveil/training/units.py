"""Whose is what: the units that a promise is about, whether their gradients are clipped or their words counted.

Both must be cut alike. A vocabulary that counts words per user where an example was priced is moved farther by one
example than its noise is made for (and per example where a user was priced, by far more).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from textveil.core import BadInput

Value = TypeVar("Value")


def units_of(values: Sequence[Value], users: Sequence[Any] | None, unit: str) -> list[list[Value]]:
    """What each unit holds: all values of a user, or else every value by itself, whether users are known or not.

    >>> units_of(["a", "b", "c"], [1, 2, 1], "user")
    [['a', 'c'], ['b']]
    >>> units_of(["a", "b", "c"], [1, 2, 1], "example")
    [['a'], ['b'], ['c']]
    """
    if str(unit) != "user":
        return [[value] for value in values]
    if users is None or len(users) != len(values):
        raise BadInput("unit 'user' needs the user of every example", possible="users=[...]")
    held: dict[Any, list[Value]] = {}
    for user, value in zip(users, values, strict=True):
        held.setdefault(user, []).append(value)
    return list(held.values())
