"""Gradient matching with a learnt mask (Algorithm 3 of the paper, after Zhu et al. 2019), on a small net.

The adversary knows the net, the label and the gradient of one hidden input, and looks for an input and a mask whose gradient
is the same: L-BFGS on the squared distance, from random starts. With k > 1 it still looks for one input, as in the paper.
The paper attacks LeNet-5 on images, with a mask on a hidden layer of d numbers. Here the net is a small one: INPUT numbers,
two sigmoid layers, then a hidden layer of d numbers that is mixed and masked, then the classes.

A remark that the paper does not make: for one input (k = 1) the first layer gives it away without any search. dL/dW = g x^T
and dL/db = g, so x is a row of the one divided by the other, whatever the mask; with k inputs they span the rows.
`read_off` does this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

INPUT, CLASSES = 32, 10
CLOSE = 1e-3  # mean squared error of a success


class SmallNet(nn.Module):
    """A net whose hidden layer of d numbers can be mixed and masked."""

    def __init__(self, hidden: int | None, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        widths = [INPUT, 64, 64, *([hidden] if hidden else []), CLASSES]
        layers = [nn.Linear(a, b) for a, b in pairwise(widths)]
        for layer in layers:
            for p in layer.parameters():
                p.data = (torch.rand(p.shape, generator=generator) - 0.5) * (2.0 / p.shape[-1] ** 0.5)
        self.body, self.last = nn.ModuleList(layers[:-1]), layers[-1]

    def hidden(self, x: Tensor) -> Tensor:
        for layer in self.body:
            x = torch.sigmoid(layer(x))
        return x

    def gradient(self, hidden: Tensor, label: Tensor, *, create_graph: bool) -> tuple[Tensor, ...]:
        loss = -(label * torch.log_softmax(self.last(hidden), 0)).sum()
        return torch.autograd.grad(loss, tuple(self.parameters()), create_graph=create_graph)


@dataclass
class MatchingRun:
    """One attack: the errors of input and mask and the distance of gradients, after each outer step."""

    input_errors: list[float] = field(default_factory=list)
    mask_errors: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    read_off_error: float = float("nan")

    @property
    def success(self) -> bool:
        return bool(self.input_errors) and min(self.input_errors) <= CLOSE


def match_gradient(width: int | None, mixed: int, *, seed: int, outer: int = 1200, inner: int = 20) -> MatchingRun:
    """Attack one input. width None: the net without TextHide."""
    net = SmallNet(width, seed)
    dice = torch.Generator().manual_seed(seed + 1)
    inputs = torch.rand((mixed, INPUT), generator=dice)
    shares = torch.randn(mixed, generator=dice).abs()
    shares = shares / shares.sum()
    mask = (torch.randint(0, 2, (width or 64,), generator=dice) * 2.0 - 1) if width else torch.ones(64)
    labels = torch.eye(CLASSES)[torch.randint(0, CLASSES, (mixed,), generator=dice)]
    label = shares @ labels
    target = [g.detach() for g in net.gradient(mask * (shares @ net.hidden(inputs)), label, create_graph=False)]
    run = MatchingRun(read_off_error=float((read_off(target) - inputs[0]).square().mean()))
    x = torch.randn(INPUT, generator=dice).requires_grad_()
    sigma = torch.randn(mask.shape, generator=dice).requires_grad_() if width else torch.ones(64)
    learnt = [x, sigma] if width else [x]
    finder = torch.optim.LBFGS(learnt, lr=1.0, history_size=100, max_iter=inner)
    for _ in range(outer):
        distance = _step(finder, net, target, label, x, sigma, learnt)
        run.distances.append(distance)
        run.input_errors.append(float((x.detach() - inputs[0]).square().mean()))
        run.mask_errors.append(float((sigma.detach() - mask).square().mean()))
        stuck = len(run.distances) > 15 and run.distances[-15] - distance < 1e-4 * run.distances[-15]
        if run.success or not torch.isfinite(x).all() or distance < 1e-13 or stuck:
            break
    return run


def _step(
    finder: Any, net: SmallNet, target: list[Tensor], label: Tensor, x: Tensor, sigma: Tensor, learnt: Any
) -> float:
    def closure() -> Tensor:
        found = net.gradient(sigma * net.hidden(x), label, create_graph=True)
        distance = torch.stack([(a - b).square().sum() for a, b in zip(found, target, strict=True)]).sum()
        for value, slope in zip(learnt, torch.autograd.grad(distance, learnt), strict=True):
            value.grad = slope
        return distance.detach()

    return float(finder.step(closure))


def read_off(target: list[Tensor]) -> Tensor:
    """The input of a gradient of one input: the first layer's matrix by its bias, at the strongest unit."""
    weight, bias = target[0], target[1]
    unit = int(bias.abs().argmax())
    return weight[unit] / bias[unit]
