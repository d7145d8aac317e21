"""Counts as a matrix: what is accepted, and how noise is added to it in blocks of rows.

A document is a row, a word of the public vocabulary a column. What is wrong with a matrix is found before anything is
charged or drawn, and named by its row (from 0), never by its content. Refused is what is no count at all (negative,
fractional, not finite). Every table of counts is released: a refusal that hangs on one count (an empty document, a very
large number) would tell two neighbours apart with certainty, whatever epsilon is.

Cutting. Counts above 2^30 are cut to it before noise is added: two documents can only come closer by that, so their L1
distance, and with it the loss, does not grow. Noise is never cut before it is added; sums are, to -2^30 .. 2^30, and that is
post-processing of the noisy count. (Cut noise would end at count + 2^30, which shows the count.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.noise import Source
from textveil.noise.discrete import geometric
from textveil.noise.table import LARGEST_SCALE, table_for

Counts = Any  # a scipy sparse matrix or array, or a two-dimensional numpy array

FEW_DRAWS = 20_000  # up to here OpenDP takes a fifth of a second
LARGEST_COUNT = 2**30  # counts and noisy counts lie within it, so that both fit into 32 bits
LARGEST_SUM = 2**60  # the same for noisy corpus counts, in 64 bits
_FAR = (
    2**62
)  # noise beyond it leaves every sum beyond the limits above, whatever is added: stopping here changes no output
_CELLS_AT_ONCE = 250_000  # 1 MB: stays in the cache from the draw to the clamp


def checked(data: Counts, *, columns: int | None = None) -> sparse.csr_array:
    """A new CSR array of whole counts from 0 to 2^30, without stored zeros; BadInput names the first bad row.

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
    if columns is not None and rows.shape[1] != columns:
        raise BadInput(
            f"the counts have {rows.shape[1]} columns, the vocabulary has {columns} words",
            possible="counts made with this very vocabulary",
        )
    counts = np.minimum(values, LARGEST_COUNT).astype(np.int64)
    whole = sparse.csr_array((counts, rows.indices, rows.indptr), shape=rows.shape)
    whole.sum_duplicates()
    whole.eliminate_zeros()
    return cut(whole)


def cut(rows: sparse.csr_array) -> sparse.csr_array:
    """The counts, none above 2^30; a new array only where there is one to cut.

    >>> cut(sparse.csr_array([[2**40, 3]])).toarray().tolist() == [[2**30, 3]]
    True
    """
    if not rows.nnz or rows.data.max() <= LARGEST_COUNT:
        return rows
    return sparse.csr_array((np.minimum(rows.data, LARGEST_COUNT), rows.indices, rows.indptr), shape=rows.shape)


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
    rows = cut(rows)
    documents, width = rows.shape
    step = max(1, _CELLS_AT_ONCE // width)
    fill = noisy_counts if is_for_opendp(documents * width, scale) else _noisy_counts_by_table
    spare = np.empty((min(step, documents) if to_sparse else documents, width), np.int32)
    parts = []
    for start in range(0, documents, step):
        stop = min(start + step, documents)
        block = spare[: stop - start] if to_sparse else spare[start:stop]
        fill(block, rows, start, stop, scale, source)
        if clamp:
            np.maximum(block, 0, out=block)
        if to_sparse:
            parts.append(sparse.csr_array(block))
    if not to_sparse:
        return spare
    return sparse.vstack(parts, format="csr") if parts else sparse.csr_array((0, width), dtype=np.int32)


def is_for_opendp(cells: int, scale: float) -> bool:
    """Whether OpenDP draws: a few numbers, or a huge scale. A table draws the rest; both are exact."""
    return cells <= FEW_DRAWS or scale > LARGEST_SCALE


def noisy_counts(
    block: np.ndarray, rows: sparse.csr_array, start: int, stop: int, scale: float, source: Source
) -> None:
    """Overwrite a block by the rows start .. stop-1 plus noise: summed in 64 bits, and the sums are cut."""
    sums = far_noise(block.shape, scale, source)
    add_counts(sums, rows, start, stop)
    np.copyto(block, np.clip(sums, -LARGEST_COUNT, LARGEST_COUNT, out=sums), casting="same_kind")


def _noisy_counts_by_table(
    block: np.ndarray, rows: sparse.csr_array, start: int, stop: int, scale: float, source: Source
) -> None:
    """The same from a table, in 32 bits: its scale is 2^11 at most, so noise beyond 2^30 has a chance of e^(-2^19)."""
    table_for(scale).fill(source, block.reshape(-1))
    add_counts(block, rows, start, stop)


def far_noise(shape: tuple[int, ...], scale: float, source: Source) -> np.ndarray:
    """OpenDP's noise in 64 bits, with room to add a count to it."""
    return np.clip(geometric(shape, scale, source), -_FAR, _FAR)


def add_counts(block: np.ndarray, rows: sparse.csr_array, start: int, stop: int) -> None:
    """Add the rows start .. stop-1 to a dense block that holds noise."""
    first, last = rows.indptr[start], rows.indptr[stop]
    places = np.repeat(np.arange(stop - start), np.diff(rows.indptr[start : stop + 1]))
    block[places, rows.indices[first:last]] += rows.data[first:last].astype(block.dtype, copy=False)


def draw(source: Source, shape: tuple[int, ...], scale: float) -> np.ndarray:
    """Two-sided geometric noise in a new array."""
    if is_for_opendp(math.prod(shape), scale):
        return far_noise(shape, scale, source)
    out = np.empty(shape, np.int32)
    table_for(scale).fill(source, out.reshape(-1))
    return out


def column_sums(rows: sparse.csr_array) -> np.ndarray:
    """Corpus count of each word."""
    return np.bincount(rows.indices, weights=rows.data, minlength=rows.shape[1]).astype(np.int64)


def noise_density(scale: float) -> float:
    """Chance that noise alone leaves a cell above 0: a / (1 + a).

    >>> round(noise_density(20.0), 3), round(noise_density(0.5), 3)
    (0.488, 0.119)
    """
    a = math.exp(-1 / scale)
    return a / (1 + a)


def noisy_corpus_counts(rows: sparse.csr_array, scale: float, noise: Source) -> np.ndarray:
    """Corpus count of each word plus noise: L1 sensitivity N, whatever the number of words. Sums beyond 2^60 are cut."""
    sums = column_sums(rows) + draw(noise, (rows.shape[1],), scale)
    return np.clip(sums, -LARGEST_SUM, LARGEST_SUM)
