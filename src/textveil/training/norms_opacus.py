"""Every other layer: its per-example gradients by Opacus's rule for the layer, or by `torch.func` where it has none.

Slower and larger than the Gram products (one gradient per example is held), but right for any layer without state
between examples. A layer whose forward needs more than one tensor is refused.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from textveil.core import BadInput
from textveil.nets.tape import Sums, pausing


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


def per_example_gradients(layer: nn.Module, inputs: Tensor, gradient: Tensor) -> dict[Any, Tensor]:
    """Gradient of each example for each parameter of the layer itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opacus.grad_sample import GradSampleModule

    rule = GradSampleModule.GRAD_SAMPLERS.get(type(layer))
    asked = [p.requires_grad for p in layer.parameters()]
    for p in layer.parameters(recurse=False):
        p.requires_grad_(True)  # Opacus skips what rests
    try:
        with pausing():
            return dict(rule(layer, [inputs], gradient)) if rule else _by_functions(layer, inputs, gradient)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(
            f"a layer of kind {type(layer).__name__} does not give the gradients of single examples",
            possible="layers of torch.nn, or requires_grad_(False) for this one",
        ) from error
    finally:
        for p, was in zip(layer.parameters(), asked, strict=True):
            p.requires_grad_(was)


def _by_functions(layer: nn.Module, inputs: Tensor, gradient: Tensor) -> dict[Any, Tensor]:
    """The gradient of <output, gradient> for one example, mapped over all of them."""
    own = dict(layer.named_parameters(recurse=False))

    def reached(parameters: dict[str, Tensor], x: Tensor, g: Tensor) -> Tensor:
        output = torch.func.functional_call(layer, parameters, (x.unsqueeze(0),))
        return (output * g.unsqueeze(0)).sum()

    held = {name: p.detach() for name, p in own.items()}
    with torch.enable_grad():
        found = torch.func.vmap(torch.func.grad(reached), in_dims=(None, 0, 0))(held, inputs, gradient)
    return {own[name]: g for name, g in found.items()}
