"""Public names of a room that are loaded when they are first used, by one table.

    if TYPE_CHECKING:
        from .brr import BRR as BRR
    else:
        __getattr__, __dir__, __all__ = lazy_names(__name__, {"brr": "BRR"})

Editors and type checkers read the first list, Python the second; a test holds the two against each other
(tests/rooms/test_public_names.py). This file imports nothing of Textveil.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], *also: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package
        Its `__name__`.
    homes
        The public names that each of its modules has; under "" the modules that are public themselves.
    *also
        Public names that the package has already.

    Examples
    --------
    >>> load, names, _ = lazy_names("textveil.core", {"units": "Adjacency Unit", "": "units"})
    >>> load("Unit").WORD, load("units").__name__, names()
    (<Unit.WORD: 'word'>, 'textveil.core.units', ['Adjacency', 'Unit', 'units'])
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    public = sorted([*home_of, *also])

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home = home_of[name]
        if not home:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{home}"), name)

    return load, lambda: public, public
