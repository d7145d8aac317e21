"""The values that travel: the trainable parameters of a net, by name or as one flat vector, and nothing else.

Frozen parameters and buffers stay where they are, so every site must start from the same net. A net whose buffers change
while it reads (running means) is refused: no clipping and no noise would cover them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.core import BadInput

Flat = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[np.floating[Any]]]


class WrongShape(ValueError):
    """Arrays that are not those of the layout."""


@dataclass(frozen=True)
class Layout:
    """Names and shapes of what travels, in order. A parameter may have no dimension at all.

    >>> layout = Layout(("scale", "matrix"), ((), (2, 2)))
    >>> layout.size, layout.flat({"scale": np.float32(3), "matrix": np.ones((2, 2), np.float32)}).tolist()
    (5, [3.0, 1.0, 1.0, 1.0, 1.0])
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(math.prod(shape) for shape in self.shapes)

    def slices(self) -> list[slice]:
        """Where each parameter stands in the flat vector."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def flat(self, arrays: Arrays) -> Flat:
        """One vector of all parameters; `WrongShape` if a name or shape is another one."""
        if tuple(arrays) != self.names:
            raise WrongShape("names")
        values = [np.asarray(arrays[name]) for name in self.names]
        if any(v.shape != shape or v.dtype.kind != "f" for v, shape in zip(values, self.shapes, strict=True)):
            raise WrongShape("shapes")
        return np.concatenate([v.reshape(-1) for v in values]).astype(np.float32)

    def arrays(self, flat: Flat) -> dict[str, Flat]:
        """The parameters by name: views into the vector."""
        pieces = zip(self.names, self.shapes, self.slices(), strict=True)
        return {name: flat[place].reshape(shape) for name, shape, place in pieces}


def freeze(net: Any, frozen: tuple[str, ...]) -> None:
    """Let the parameters whose names begin so rest; a beginning that none has is refused."""
    names = [name for name, _ in net.named_parameters()]
    for start in frozen:
        if not any(name.startswith(start) for name in names):
            raise BadInput(f"no parameter of the net begins with '{start}'", possible=", ".join(names))
    for name, parameter in net.named_parameters():
        if any(name.startswith(start) for start in frozen):
            parameter.requires_grad_(False)


def trainable(net: Any) -> dict[str, Any]:
    """The parameters that learn, by name; a net without any, or with layers that write down what they read, is refused."""
    from textveil.nets.net_checks import check_modules, check_precision

    check_modules(net)
    check_precision(net)
    parameters = {name: p for name, p in net.named_parameters() if p.requires_grad}
    if not parameters:
        raise BadInput("the net has no parameter that learns", possible="fewer frozen parts")
    return parameters


def layout_of(net: Any) -> Layout:
    """What of this net travels."""
    parameters = trainable(net)
    return Layout(tuple(parameters), tuple(tuple(p.shape) for p in parameters.values()))


def flat_of(net: Any) -> Flat:
    """The trainable values, copied into one vector."""
    import torch

    with torch.no_grad():
        values = torch.cat([p.detach().reshape(-1) for p in trainable(net).values()])
    return np.asarray(values.float().numpy())


def put_into(net: Any, flat: Flat) -> None:
    """Give the net the values of a vector."""
    import torch

    with torch.no_grad():
        start = 0
        for p in net.parameters():
            if p.requires_grad:
                p.copy_(torch.from_numpy(flat[start : start + p.numel()]).view_as(p))
                start += p.numel()
