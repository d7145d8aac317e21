"""The classifier between two owners: its public shape, and one forward pass for numpy, for the engine and for the oracle.

    x (n, length, width)    one vector (length 384, width 1: the paper) or one vector a piece (length 32, width 384)
    windows                 all windows of the widest kernel, zeros behind the end; narrower kernels end in zero weights
    one matrix product      all channels of all branches at once
    pool                    the largest (or the sum) of each `pool` neighbours, then ReLU (or the square)
    dense, ReLU, dense      hidden units, then one score (two classes) or one score a class

The ReLU stands after the maximum: max(relu(a), relu(b)) = relu(max(a, b)), so this is the paper's network with half the
comparisons. A branch with a wider kernel has fewer places; its last places read past the end and meet zero weights in the
dense layer. Sums are means whose 1 / pool was multiplied into the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.core.errors import BadInput

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class NetworkShape:
    """What both owners know of a classifier: everything but its numbers.

    >>> shape = NetworkShape(384, kernels=(3, 4, 5))
    >>> shape.places, shape.features, shape.scores
    (191, 4584, 1)
    """

    length: int
    width: int = 1
    kernels: tuple[int, ...] = ()
    channels: int = 8
    stride: int = 1
    pool: int = 2
    pooling: str = "max"  # or sum
    bend: str = "relu"  # or square
    hidden: int = 16
    classes: int = 2

    def __post_init__(self) -> None:
        numbers = [self.length, self.width, self.channels, self.stride, self.pool, *self.kernels]
        is_fit = all(type(n) is int and 1 <= n <= 1 << 16 for n in numbers) and 0 <= self.hidden <= 1 << 12
        is_fit = is_fit and 2 <= self.classes <= 1000 and len(self.kernels) <= 16
        is_fit = is_fit and max(self.kernels, default=1) <= self.length and (not self.kernels or self.places >= 1)
        if not is_fit or self.pooling not in ("max", "sum") or self.bend not in ("relu", "square"):
            raise BadInput("the shape of the classifier does not fit together")
        if self.inputs > 1 << 20 or self.features > 1 << 20:
            raise BadInput("the classifier is too large")

    @property
    def inputs(self) -> int:
        return self.length * self.width

    @property
    def reach(self) -> int:
        """The width of the widest kernel."""
        return max(self.kernels)

    @property
    def windows(self) -> int:
        return (self.length - min(self.kernels)) // self.stride + 1

    @property
    def places(self) -> int:
        """What is left of the windows after the pool."""
        return self.windows // self.pool

    @property
    def features(self) -> int:
        return self.places * self.channels * len(self.kernels) if self.kernels else self.inputs

    @property
    def scores(self) -> int:
        return 1 if self.classes == 2 else self.classes

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all weights, by name, in the order in which programs take them."""
        shapes: dict[str, tuple[int, ...]] = {}
        if self.kernels:
            channels = self.channels * len(self.kernels)
            shapes |= {"conv": (self.reach * self.width, channels), "conv_bias": (channels,)}
        last = self.features
        if self.hidden:
            shapes |= {"hidden": (last, self.hidden), "hidden_bias": (self.hidden,)}
            last = self.hidden
        return {**shapes, "out": (last, self.scores), "out_bias": (self.scores,)}

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "kernels": list(self.kernels)}

    @classmethod
    def from_json(cls, raw: Any) -> NetworkShape:
        known = {field.name for field in fields(cls)}
        if not isinstance(raw, dict) or set(raw) != known or not isinstance(raw["kernels"], list):
            raise BadInput("the shape of the classifier cannot be read")
        try:
            return cls(**{**raw, "kernels": tuple(raw["kernels"])})
        except TypeError:
            raise BadInput("the shape of the classifier cannot be read") from None


def check_arrays(shape: NetworkShape, arrays: Arrays) -> None:
    """Refuse weights that do not have the shapes of the network."""
    for name, wanted in shape.arrays().items():
        if name not in arrays or tuple(arrays[name].shape) != wanted:
            raise BadInput(f"the classifier's array '{name}' is missing or has another shape than {wanted}")
        if not np.isfinite(arrays[name]).all():
            raise BadInput(f"the classifier's array '{name}' has values that are no numbers")


def scores(shape: NetworkShape, arrays: Arrays, x: Any, xp: Any = np) -> Any:
    """The scores of each row of x, computed by numpy or by the engine's `xp`."""
    h = x
    if shape.kernels:
        h = _bent(shape, _pooled(shape, _convolved(shape, arrays, x, xp), xp), xp)
    if shape.hidden:
        h = _bent(shape, h @ arrays["hidden"] + arrays["hidden_bias"], xp)
    return h @ arrays["out"] + arrays["out_bias"]


def windows(shape: NetworkShape, x: Any, xp: Any) -> Any:
    """(n * windows, reach * width): what each kernel sees."""
    rows = x.shape[0]
    missing = shape.reach + (shape.windows - 1) * shape.stride - shape.length
    h = x.reshape(rows, shape.length, shape.width)
    if missing > 0:
        h = xp.concatenate([h, xp.zeros((rows, missing, shape.width), dtype=h.dtype)], axis=1)
    last = (shape.windows - 1) * shape.stride + 1
    seen = xp.concatenate([h[:, i : i + last : shape.stride, :] for i in range(shape.reach)], axis=2)
    return seen.reshape(rows * shape.windows, shape.reach * shape.width)


def _convolved(shape: NetworkShape, arrays: Arrays, x: Any, xp: Any) -> Any:
    product = windows(shape, x, xp) @ arrays["conv"] + arrays["conv_bias"]
    return product.reshape(x.shape[0], shape.windows, -1)


def _pooled(shape: NetworkShape, h: Any, xp: Any) -> Any:
    rows, channels = h.shape[0], h.shape[2]
    h = h[:, : shape.places * shape.pool].reshape(rows, shape.places, shape.pool, channels)
    if shape.pooling == "sum":
        return h.sum(axis=2).reshape(rows, -1)
    while h.shape[2] > 1:  # a tournament: each round compares halves, whatever is over waits
        half = h.shape[2] // 2
        best = xp.maximum(h[:, :, :half], h[:, :, half : 2 * half])
        h = best if h.shape[2] == 2 * half else xp.concatenate([best, h[:, :, 2 * half :]], axis=2)
    return h.reshape(rows, -1)


def _bent(shape: NetworkShape, h: Any, xp: Any) -> Any:
    return h * h if shape.bend == "square" else xp.maximum(h, 0)


def labels(found: NDArray[Any]) -> NDArray[np.int64]:
    """The class of each row of scores."""
    return (found[:, 0] > 0).astype(np.int64) if found.shape[1] == 1 else found.argmax(1)


__all__ = ["NetworkShape", "check_arrays", "labels", "scores", "windows"]
