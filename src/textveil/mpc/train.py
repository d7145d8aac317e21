"""Train Alice's classifier in plain torch, and turn torch layers into the arrays that the engine computes with.

As in the paper: parallel branches of Conv1d, ReLU and MaxPool1d, concatenation with dropout .25, a dense layer, one score;
Adam with rate .002, batches of 50, cross entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.core.errors import BadInput
from textveil.core.params import positive, positive_integer

from .networks import NetworkShape, check_arrays

KINDS = {
    "paper": {"kernels": (3, 4, 5), "channels": 8, "pool": 2},
    "wide": {"kernels": (16,), "channels": 24, "stride": 8, "pool": 4},
    "square": {"kernels": (16,), "channels": 24, "stride": 8, "pool": 4, "pooling": "sum", "bend": "square"},
    "linear": {"kernels": (), "hidden": 0},
}


def shape_of(kind: str, length: int, width: int = 1, classes: int = 2, **changes: Any) -> NetworkShape:
    """The shape of a kind of network. Over pieces (width above 1) the pool takes all places: a maximum over time.

    >>> shape_of("wide", 384).features
    264
    """
    known = KINDS.get(kind)
    if known is None:
        raise BadInput(f"there is no kind of network '{kind}'", possible=", ".join(KINDS))
    given = {**known, **changes}
    if width > 1 and given["kernels"]:
        given |= {"kernels": changes.get("kernels", (2, 3)), "stride": 1}
        given["pool"] = length - min(given["kernels"]) + 1
        given["hidden"] = changes.get("hidden", 0)
    return NetworkShape(length, width, classes=classes, **given)


def train_network(
    shape: NetworkShape,
    x: NDArray[Any],
    y: Sequence[int],
    *,
    epochs: int = 8,
    rate: float = 0.002,
    batch: int = 50,
    dropout: float = 0.25,
    decay: float = 1e-4,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, NDArray[np.float32]]:
    """Fit a network to rows and classes, and return its arrays."""
    import torch

    from textveil.nets.fit import own_randomness

    positive_integer("epochs", epochs)
    positive_integer("batch", batch)
    positive("rate", rate)
    rows, classes = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32)), torch.as_tensor(np.asarray(y))
    with own_randomness(seed):
        net = _build(shape, dropout)
        learner = torch.optim.Adam(net.parameters(), lr=rate, weight_decay=decay)
        steps = epochs * -(-len(rows) // batch)
        schedule = torch.optim.lr_scheduler.LambdaLR(learner, lambda step: 1 - step / steps)
        net.train()
        for _ in range(epochs):
            for places in torch.randperm(len(rows)).split(batch):
                loss = _loss(shape, net(rows[places]), classes[places])
                learner.zero_grad()
                loss.backward()
                learner.step()
                schedule.step()
                progress(len(places))
    return from_layers(shape, list(net.convs), net.hidden, net.out)


def _loss(shape: NetworkShape, found: Any, classes: Any) -> Any:
    from torch.nn import functional

    if shape.scores == 1:
        return functional.binary_cross_entropy_with_logits(found[:, 0], classes.float())
    return functional.cross_entropy(found, classes)


def _build(shape: NetworkShape, dropout: float) -> Any:
    from torch import nn

    class Branches(nn.Module):
        """The network with torch's own layers."""

        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList(
                nn.Conv1d(shape.width, shape.channels, kernel, stride=shape.stride) for kernel in shape.kernels
            )
            features = sum(shape.channels * places for places in _branch_places(shape)) or shape.inputs
            self.hidden = nn.Linear(features, shape.hidden) if shape.hidden else None
            self.out = nn.Linear(shape.hidden or features, shape.scores)
            self.drop = nn.Dropout(dropout if shape.kernels else 0.0)

        def forward(self, x: Any) -> Any:
            h = x
            if shape.kernels:
                h = self.drop(self._branches(x.reshape(len(x), shape.length, shape.width).transpose(1, 2)))
            if self.hidden is not None:
                h = self._bend(self.hidden(h))
            return self.out(h)

        def _branches(self, x: Any) -> Any:
            import torch

            pool = nn.functional.max_pool1d if shape.pooling == "max" else nn.functional.avg_pool1d
            kept = []
            for conv, kernel in zip(self.convs, shape.kernels, strict=True):
                behind = kernel - min(shape.kernels) if shape.places == 1 else 0
                kept.append(self._bend(pool(conv(nn.functional.pad(x, (0, behind))), shape.pool)).flatten(1))
            return torch.cat(kept, 1)

        def _bend(self, h: Any) -> Any:
            return h * h if shape.bend == "square" else h.relu()

    return Branches()


def _branch_places(shape: NetworkShape) -> list[int]:
    """What is left of each branch after the pool; a pool over all places leaves one of every branch."""
    if not shape.kernels:
        return []
    if shape.places == 1:
        return [1] * len(shape.kernels)
    return [((shape.length - kernel) // shape.stride + 1) // shape.pool for kernel in shape.kernels]


def from_layers(
    shape: NetworkShape, convs: Sequence[Any], hidden: Any | None, out: Any
) -> dict[str, NDArray[np.float32]]:
    """Arrays of a torch classifier: Conv1d branches (ReLU, pool, concatenated as (branch, channel, place)), Linear, Linear.

    `shape` says what the layers do between them. Where the pool takes all places, wider kernels read zeros past the end, so
    that every branch has as many windows as the narrowest.
    """
    arrays: dict[str, NDArray[np.float32]] = {}
    if shape.kernels:
        arrays |= _convolution(shape, convs)
    dense = [("hidden", hidden), ("out", out)] if shape.hidden else [("out", out)]
    for name, layer in dense:
        arrays[name] = np.ascontiguousarray(_numpy(layer.weight).T)
        arrays[f"{name}_bias"] = _numpy(layer.bias)
    if shape.kernels:
        first = dense[0][0]
        arrays[first] = _joint_rows(shape, arrays[first])
    check_arrays(shape, arrays)
    return arrays


def _numpy(tensor: Any) -> NDArray[np.float32]:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float32)


def _convolution(shape: NetworkShape, convs: Sequence[Any]) -> dict[str, NDArray[np.float32]]:
    """All kernels side by side, narrower ones with zeros below."""
    joint = np.zeros((shape.reach * shape.width, shape.channels * len(shape.kernels)), dtype=np.float32)
    bias = np.zeros(joint.shape[1], dtype=np.float32)
    part = shape.pool if shape.pooling == "sum" else 1
    for number, (kernel, conv) in enumerate(zip(shape.kernels, convs, strict=True)):
        weight = _numpy(conv.weight)  # (channels, width, kernel)
        if weight.shape != (shape.channels, shape.width, kernel):
            raise BadInput(f"a convolution has weights of the shape {weight.shape}")
        own = slice(number * shape.channels, (number + 1) * shape.channels)
        joint[: kernel * shape.width, own] = weight.transpose(2, 1, 0).reshape(-1, shape.channels) / part
        bias[own] = _numpy(conv.bias) / part
    return {"conv": joint, "conv_bias": bias}


def _joint_rows(shape: NetworkShape, dense: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows in the order (place, branch, channel); places that a branch does not have get zeros."""
    joint = np.zeros((shape.places, len(shape.kernels), shape.channels, dense.shape[1]), dtype=np.float32)
    start = 0
    for number, places in enumerate(_branch_places(shape)):
        rows = dense[start : start + shape.channels * places].reshape(shape.channels, places, -1)
        joint[:places, number] = rows.transpose(1, 0, 2)
        start += shape.channels * places
    if start != len(dense):
        raise BadInput(f"the first dense layer takes {len(dense)} features, not {start}")
    return joint.reshape(-1, dense.shape[1])


__all__ = ["KINDS", "from_layers", "shape_of", "train_network"]
