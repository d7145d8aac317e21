"""Per-example gradients of LayerNorm: y = w * z + c with z the normalised input, so the gradients are sums of g * z and of g.

They are as small as one vector per example and are formed outright. z is computed again rather than kept.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from textveil.nets.tape import Sums


class Scale:
    """A LayerNorm layer's record."""

    def __init__(self, layer: nn.LayerNorm, inputs: Tensor, wanted: tuple[bool, bool]) -> None:
        self.weight, self.bias = (layer.weight if wanted[0] else None), (layer.bias if wanted[1] else None)
        self.parameters = tuple(p for p in (self.weight, self.bias) if p is not None)
        self.shape, self.eps, self.inputs = layer.normalized_shape, layer.eps, inputs.detach()
        self.of_weight: Tensor | None = None
        self.of_bias: Tensor | None = None

    @property
    def unused(self) -> bool:
        return self.of_weight is None and self.of_bias is None

    def keep(self, gradient: Tensor) -> None:
        z = F.layer_norm(self.inputs, self.shape, eps=self.eps)
        inner = (len(gradient), -1, *self.shape)
        if self.weight is not None:
            self.of_weight = (gradient * z).reshape(inner).sum(1)
        if self.bias is not None:
            self.of_bias = gradient.reshape(inner).sum(1)
        self.inputs = torch.empty(0)

    def absorb(self, other: Scale) -> None:
        if self.of_weight is not None and other.of_weight is not None:
            self.of_weight = self.of_weight + other.of_weight
        if self.of_bias is not None and other.of_bias is not None:
            self.of_bias = self.of_bias + other.of_bias

    def squared_norms(self) -> Tensor:
        return sum(g.flatten(1).square().sum(1) for g in (self.of_weight, self.of_bias) if g is not None)

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        for parameter, g in ((self.weight, self.of_weight), (self.bias, self.of_bias)):
            if parameter is not None and g is not None:
                sums[parameter] += torch.tensordot(weights.to(g.dtype), g, dims=1)
