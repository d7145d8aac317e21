"""Counts as a matrix: what is accepted, and how noise is added to it in blocks of rows.

A document is a row, a word of the public vocabulary a column. What is wrong with a matrix is found before anything is
charged or drawn, and named by its row (from 0), never by its content.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.noise import Source
from textveil.noise.discrete import geometric
from textveil.noise.table import LARGEST_SCALE, table_for

Counts = Any  # a scipy sparse matrix or array, or a two-dimensional numpy array

FEW_DRAWS = 20_000  # up to here OpenDP takes a fifth of a second
LARGEST_COUNT = 2**30  # leaves room for noise in 32 bits
_CELLS_AT_ONCE = 250_000  # 1 MB: stays in the cache from the draw to the clamp


def checked(data: Counts, *, columns: int | None = None, empty: str = "keep") -> sparse.csr_array:
    """A new CSR array of whole counts of 0 or more, without stored zeros; BadInput names the first bad row.

    >>> checked([[1, 0], [0, -1]])
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadInput: document 1 (row 1, counted from 0) has a negative count
    """
    rows = _as_csr(data)
    values = rows.data
    if values.dtype.kind not in "biuf":
        raise BadInput(f"counts must be whole numbers, not {values.dtype}")
    _refuse(rows, ~np.isfinite(values), "has a count that is not finite")
    _refuse(rows, values < 0, "has a negative count")
    _refuse(rows, values != np.floor(values), "has a fractional count", "raw counts, not tf-idf or shares")
    _refuse(rows, values > LARGEST_COUNT, f"has a count above {LARGEST_COUNT}")
    if columns is not None and rows.shape[1] != columns:
        raise BadInput(
            f"the counts have {rows.shape[1]} columns, the vocabulary has {columns} words",
            possible="counts made with this very vocabulary",
        )
    whole = sparse.csr_array((values.astype(np.int64), rows.indices, rows.indptr), shape=rows.shape)
    whole.sum_duplicates()
    whole.eliminate_zeros()
    bare = np.flatnonzero(np.diff(whole.indptr) == 0)
    if empty == "refuse" and len(bare):
        raise BadInput(
            f"document {int(bare[0])} (row {int(bare[0])}, counted from 0) is empty: it has no word of the vocabulary",
            possible="leave it out, or empty='keep' (--empty keep) to release it as noise alone",
        )
    return whole


def _as_csr(data: Counts) -> sparse.csr_array:
    if sparse.issparse(data):
        found = sparse.csr_array(data, copy=True)
    else:
        if hasattr(data, "to_numpy"):
            data = data.to_numpy()
        try:
            table = np.asarray(data)
        except ValueError:
            raise BadInput("counts must be a table of numbers, one row per document") from None
        if table.ndim != 2 or table.dtype.kind not in "biuf":
            raise BadInput("counts must be a table of numbers, one row per document")
        if table.dtype.kind == "f" and not np.isfinite(table).all():
            row = int(np.argwhere(~np.isfinite(table))[0][0])
            raise BadInput(f"document {row} (row {row}, counted from 0) has a count that is not finite")
        found = sparse.csr_array(table)
    if found.shape[1] == 0:
        raise BadInput("the vocabulary is empty: the counts have no columns")
    return found


def _refuse(rows: sparse.csr_array, bad: np.ndarray, what: str, possible: str | None = None) -> None:
    places = np.flatnonzero(bad)
    if len(places):
        row = int(np.searchsorted(rows.indptr, places[0], side="right")) - 1
        raise BadInput(f"document {row} (row {row}, counted from 0) {what}", possible=possible)


def with_noise(rows: sparse.csr_array, scale: float, source: Source, *, clamp: bool, to_sparse: bool) -> Any:
    """Counts plus noise in every cell, as a new dense (int32) or CSR array; negatives become 0 where `clamp` is set."""
    documents, width = rows.shape
    step = max(1, _CELLS_AT_ONCE // width)
    fill = noise_for(documents * width, scale)
    spare = np.empty((min(step, documents) if to_sparse else documents, width), np.int32)
    parts = []
    for start in range(0, documents, step):
        stop = min(start + step, documents)
        block = spare[: stop - start] if to_sparse else spare[start:stop]
        fill(source, block)
        add_counts(block, rows, start, stop)
        if clamp:
            np.maximum(block, 0, out=block)
        if to_sparse:
            parts.append(sparse.csr_array(block))
    if not to_sparse:
        return spare
    return sparse.vstack(parts, format="csr") if parts else sparse.csr_array((0, width), dtype=np.int32)


def noise_for(cells: int, scale: float) -> Callable[[Source, np.ndarray], None]:
    """How to fill blocks of 32-bit numbers with noise: OpenDP for a few draws and huge scales, a table for the rest.

    Both are exact. What lies beyond 2^30 is cut, which is post-processing.
    """
    if cells <= FEW_DRAWS or scale > LARGEST_SCALE:
        return lambda source, block: np.copyto(
            block, np.clip(geometric(block.shape, scale, source), -LARGEST_COUNT, LARGEST_COUNT), casting="same_kind"
        )
    table = table_for(scale)
    return lambda source, block: table.fill(source, block.reshape(-1))


def add_counts(block: np.ndarray, rows: sparse.csr_array, start: int, stop: int) -> None:
    """Add the rows start .. stop-1 to a dense block that holds noise."""
    first, last = rows.indptr[start], rows.indptr[stop]
    places = np.repeat(np.arange(stop - start), np.diff(rows.indptr[start : stop + 1]))
    block[places, rows.indices[first:last]] += rows.data[first:last].astype(block.dtype, copy=False)


def draw(source: Source, shape: tuple[int, ...], scale: float) -> np.ndarray:
    """Two-sided geometric noise in a new array."""
    out = np.empty(shape, np.int32)
    noise_for(out.size, scale)(source, out)
    return out


def column_sums(rows: sparse.csr_array) -> np.ndarray:
    """Corpus count of each word."""
    return np.bincount(rows.indices, weights=rows.data, minlength=rows.shape[1]).astype(np.int64)
