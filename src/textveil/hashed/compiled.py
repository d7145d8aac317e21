"""`compiled`: numba's njit, kept on disk where a folder for that exists. Imports numba, so it is itself imported late."""

from __future__ import annotations

import numba


def compiled(function):
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # numba found no folder it may write to
        return numba.njit(nogil=True)(function)
