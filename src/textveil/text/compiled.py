"""`compiled`: numba's njit without the interpreter lock, kept on disk where a folder for that exists.

Imports numba, so whoever uses it is itself imported late. numba renews what it keeps when the function's own file changes,
not when a file that it calls into does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function as machine code; `options` are those of numba."""
    try:
        return numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # numba found no folder it may write to: compiled anew in each process
        return numba.njit(nogil=True, **options)(function)
