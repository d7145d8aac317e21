"""What both searches share: checks of arrays, the choice of an engine, and spreading a batch over threads."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from textveil.core.errors import BadInput, BadParameter, UnknownName

ENGINES = ("auto", "numba", "numpy")


def table(values: np.ndarray, dtype: type, name: str, columns: int | None = None) -> np.ndarray:
    """`values` as a contiguous two-dimensional array of `dtype`; refuses any other type rather than converting silently."""
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype != dtype:
        raise BadInput(
            f"{name} must be a two-dimensional array of {np.dtype(dtype).name}, "
            f"not {array.ndim}-dimensional of {array.dtype}"
        )
    if columns is not None and array.shape[1] != columns:
        raise BadInput(f"{name} must have {columns} columns, not {array.shape[1]}")
    return np.ascontiguousarray(array)


def random_words(words: np.ndarray | None, count: int) -> np.ndarray | None:
    """One random 64-bit word for each query, or None."""
    if words is None:
        return None
    array = np.asarray(words)
    if array.dtype != np.uint64 or array.shape != (count,):
        raise BadInput(f"tie_words must be {count} numbers of uint64, not {array.shape} of {array.dtype}")
    return np.ascontiguousarray(array)


def choose_engine(engine: str, compiled_works: Callable[[], bool]) -> str:
    """The engine to use; `auto` takes the compiled one where numba is installed and this machine has what it needs."""
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    if engine == "numpy":
        return "numpy"
    works = importlib.util.find_spec("numba") is not None and compiled_works()
    if engine == "numba" and not works:
        raise BadInput("engine 'numba' needs numba on a processor it supports", possible="engine='numpy'")
    return "numba" if works else "numpy"


def check_count(name: str, value: int, largest: int | None = None) -> int:
    """A whole number from 1 to `largest`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1 or (largest is not None and value > largest):
        limit = "" if largest is None else f" up to {largest}"
        raise BadParameter(name, value, f"a whole number of at least 1{limit}")
    return int(value)


def spread(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Call `work(start, stop)` on `threads` equal parts of `range(count)`; the parts write to separate rows."""
    if threads == 1 or count < 2:
        work(0, count)
        return
    edges = np.linspace(0, count, min(threads, count) + 1).astype(int)
    with ThreadPoolExecutor(len(edges) - 1) as pool:
        for done in [pool.submit(work, a, b) for a, b in pairwise(edges)]:
            done.result()


def aligned(count: int, dtype: type, boundary: int = 64) -> np.ndarray:
    """An uninitialised array that starts on a cache line, so that no vector load crosses one."""
    size = count * np.dtype(dtype).itemsize
    raw = np.empty(size + boundary, np.uint8)
    start = -raw.ctypes.data % boundary
    return raw[start : start + size].view(dtype)
