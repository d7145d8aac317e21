"""The same network in fixed point: what the engine computes up to the last bit of each truncation.

Numbers are whole multiples of 2^-bits in the ring of 64-bit integers, cut towards zero when they are encoded, as the engine
does. After each product the fraction is cut off again; the engine does this by a protocol that may be one unit off, either
way, and the oracle rounds down.

`tolerance` bounds how far a score of the engine can then be from the oracle's. Let u = 2^-bits. Both sides begin with equal
integers, so the first product is off by the truncation alone, u. A product with a column w of numbers that are off by e is
off by at most e sum |w| + u; maxima and ReLUs do not add to it, a sum of k adds up k errors, and a square of |z| is off by at
most 2 |z| e + e^2 + u. This is the worst case: errors of either sign mostly cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .networks import Arrays, NetworkShape, windows

BITS = 16
Fixed = NDArray[np.int64]


def encode(values: Any, bits: int = BITS) -> Fixed:
    return np.trunc(np.asarray(values, dtype=np.float64) * (1 << bits)).astype(np.int64)


def oracle_scores(shape: NetworkShape, arrays: Arrays, x: NDArray[Any], bits: int = BITS) -> NDArray[np.float64]:
    """The scores of each row, as multiples of 2^-bits."""
    fixed = {name: encode(values, bits) for name, values in arrays.items()}
    h = encode(x, bits)
    if shape.kernels:
        h = _cut(windows(shape, h, np) @ fixed["conv"], bits) + fixed["conv_bias"]
        h = h.reshape(len(x), shape.windows, -1)[:, : shape.places * shape.pool]
        h = h.reshape(len(x), shape.places, shape.pool, -1)
        h = (h.sum(axis=2) if shape.pooling == "sum" else h.max(axis=2)).reshape(len(x), -1)
        h = _bent(shape, h, bits)
    if shape.hidden:
        h = _bent(shape, _cut(h @ fixed["hidden"], bits) + fixed["hidden_bias"], bits)
    return (_cut(h @ fixed["out"], bits) + fixed["out_bias"]) / float(1 << bits)


def tolerance(shape: NetworkShape, arrays: Arrays, x: NDArray[Any], bits: int = BITS) -> float:
    """The largest difference between engine and oracle that truncations can make on these rows."""
    u = 2.0**-bits
    h, error = np.abs(np.asarray(x, dtype=np.float64)), 0.0
    if shape.kernels:
        h, error = _through(windows(shape, h, np), error, arrays["conv"], arrays["conv_bias"], u)
        h = h.reshape(len(x), shape.windows, -1)[:, : shape.places * shape.pool]
        h = h.reshape(len(x), shape.places, shape.pool, -1)
        if shape.pooling == "sum":
            h, error = h.sum(axis=2), error * shape.pool
        else:
            h = h.max(axis=2)
        h, error = _bent_bound(shape, h.reshape(len(x), -1), error, u)
    if shape.hidden:
        h, error = _through(h, error, arrays["hidden"], arrays["hidden_bias"], u)
        h, error = _bent_bound(shape, h, error, u)
    return float(_through(h, error, arrays["out"], arrays["out_bias"], u)[1])


def _through(
    h: NDArray[Any], error: float, weights: NDArray[Any], bias: NDArray[Any], u: float
) -> tuple[NDArray[Any], float]:
    """Bounds of the absolute values behind a product, and of their error."""
    magnitude = np.abs(np.asarray(weights, dtype=np.float64))
    grown = float(magnitude.sum(axis=0).max() * error) + u
    return h @ magnitude + np.abs(bias), grown


def _bent_bound(shape: NetworkShape, h: NDArray[Any], error: float, u: float) -> tuple[NDArray[Any], float]:
    if shape.bend == "relu":
        return h, error
    return h * h, float(2 * h.max() * error + error**2 + u)


def _cut(product: Fixed, bits: int) -> Fixed:
    return product >> bits


def _bent(shape: NetworkShape, h: Fixed, bits: int) -> Fixed:
    return _cut(h * h, bits) if shape.bend == "square" else np.maximum(h, 0)


__all__ = ["BITS", "encode", "oracle_scores", "tolerance"]
