"""Every other layer: Opacus forms its per-example gradients, by its own rule for the layer or by functorch.

Slower and larger than the Gram products (one gradient per example is held), but right for any layer without state
between examples. What mixes examples (batch normalisation) is refused, and so is a layer whose forward needs more than
one tensor.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from textveil.core import BadInput
from textveil.core.params import needs
from textveil.nets.tape import Sums

MIXES = (nn.modules.batchnorm._BatchNorm,)


class Sampled:
    """The record of a layer that only Opacus knows."""

    def __init__(self, layer: nn.Module, inputs: Tensor) -> None:
        self.layer, self.inputs = layer, inputs.detach()
        self.parameters = tuple(p for p in layer.parameters(recurse=False))
        self.found: dict[Any, Tensor] = {}

    @property
    def unused(self) -> bool:
        return not self.found

    def keep(self, gradient: Tensor) -> None:
        for parameter, g in per_example_gradients(self.layer, self.inputs, gradient).items():
            self.found[parameter] = self.found[parameter] + g if parameter in self.found else g
        self.inputs = torch.empty(0)

    def absorb(self, other: Sampled) -> None:
        for parameter, g in other.found.items():
            self.found[parameter] = self.found[parameter] + g

    def squared_norms(self) -> Tensor:
        return sum(g.flatten(1).square().sum(1) for g in self.found.values())

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        for parameter, g in self.found.items():
            if parameter in sums:
                sums[parameter] += torch.tensordot(weights.to(g.dtype), g, dims=1)


def check_layer(layer: nn.Module) -> None:
    """Refuse a layer whose output for one example depends on the others."""
    if isinstance(layer, MIXES):
        raise BadInput(
            f"a layer of kind {type(layer).__name__} mixes the examples of a batch, so no example has a gradient of its own",
            possible="LayerNorm or GroupNorm",
        )
    needs("training", "opacus")


def per_example_gradients(layer: nn.Module, inputs: Tensor, gradient: Tensor) -> dict[Any, Tensor]:
    """Gradient of each example for each parameter of the layer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opacus.grad_sample import GradSampleModule
        from opacus.grad_sample.functorch import ft_compute_per_sample_gradient, prepare_layer

    rule = GradSampleModule.GRAD_SAMPLERS.get(type(layer))
    asked = [p.requires_grad for p in layer.parameters()]
    for p in layer.parameters(recurse=False):
        p.requires_grad_(True)  # Opacus skips what rests
    try:
        if rule is not None:
            return dict(rule(layer, [inputs], gradient))
        if not hasattr(layer, "ft_compute_sample_grad"):
            prepare_layer(layer)
        return dict(ft_compute_per_sample_gradient(layer, [inputs], gradient))
    finally:
        for p, was in zip(layer.parameters(), asked, strict=True):
            p.requires_grad_(was)
