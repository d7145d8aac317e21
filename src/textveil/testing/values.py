"""Data of any kind, compared and kept: lists of texts, arrays, sparse matrices, dictionaries."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def same(first: Any, second: Any) -> bool:
    """Equal in type and content, to the last bit.

    >>> same([1.0, "a"], [1.0, "a"]), same([1.0], (1.0,)), same(np.arange(3), np.arange(3.0))
    (True, False, False)
    """
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return first.shape == second.shape and first.dtype == second.dtype and _same_cells(first, second)
    if isinstance(first, Mapping):
        return list(first) == list(second) and all(same(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=True))
    if hasattr(first, "toarray"):
        return first.shape == second.shape and same(first.toarray(), second.toarray())
    if isinstance(first, float) and math.isnan(first):
        return math.isnan(second)
    return bool(first == second)


def alike(first: Any, second: Any) -> bool:
    """Equal up to noise that has all but vanished: numbers within 0.01, and 99 of 100 entries of whatever else."""
    try:
        a, b = (np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64) for x in (first, second))
    except (TypeError, ValueError):
        return _mostly_equal(first, second)
    return a.shape == b.shape and (a.size == 0 or float(np.mean(np.abs(a - b) <= 0.01)) >= 0.99)


def keep(value: Any) -> Any:
    """A copy to compare with later."""
    return copy.deepcopy(value)


def fitted_arrays(mechanism: Any) -> dict[str, bytes]:
    """Bytes of the arrays a mechanism holds, also those inside its vectors and codes."""
    found: dict[str, bytes] = {}
    holders = {"": mechanism, **{n: getattr(mechanism, n) for n in ("vectors_", "codes_") if hasattr(mechanism, n)}}
    for holder, owner in holders.items():
        for name, value in vars(owner).items() if hasattr(owner, "__dict__") else ():
            if isinstance(value, np.ndarray) and not name.startswith("_"):
                found[f"{holder}.{name}".lstrip(".")] = value.tobytes()
    return found


def _same_cells(first: np.ndarray, second: np.ndarray) -> bool:
    if first.dtype == object:
        return all(same(a, b) for a, b in zip(first.flat, second.flat, strict=True))
    return first.tobytes() == second.tobytes()


def _mostly_equal(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return set(first) == set(second) and all(alike(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)) and len(first) == len(second):
        return not first or sum(a == b for a, b in zip(first, second, strict=True)) >= 0.99 * len(first)
    return bool(first == second)
