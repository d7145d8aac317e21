"""Gradients taken one unit at a time: the slow oracle, and the way of training when the unit is a user with many examples.

A user's gradient is that of the mean loss over all of the user's examples, formed by plain backward passes over
micro-batches and then clipped as one: norm at most C whatever the number of examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter

from textveil.core import BadInput
from textveil.nets.tape import Sums

from .clipping_tape import _MARGIN, NotFinite, Recorder, check_losses


def unit_gradient(
    net: Any, parameters: Sequence[Parameter], examples: Sequence[Any], micro_batch: int
) -> tuple[Tensor, ...]:
    """The gradient of the mean loss of these examples."""
    total = [torch.zeros_like(p) for p in parameters]
    for start in range(0, len(examples), micro_batch):
        some = list(examples[start : start + micro_batch])
        losses = net.losses(net.collate(some))
        check_losses(losses, len(some))
        found = torch.autograd.grad(losses.sum() / len(examples), parameters, allow_unused=True)
        for sum_, g in zip(total, found, strict=True):
            if g is not None:
                sum_ += g
    return tuple(total)


def add_clipped_units(
    net: nn.Module,
    parameters: Sequence[Parameter],
    units: Sequence[Sequence[Any]],
    clip: float,
    sums: Sums,
    micro_batch: int = 64,
) -> Tensor:
    """Add each unit's clipped gradient; returns the norms before clipping."""
    norms = torch.zeros(len(units))
    for k, unit in enumerate(units):
        if not len(unit):
            continue  # a user without examples contributes nothing
        gradient = unit_gradient(net, parameters, unit, micro_batch)
        norms[k] = torch.sqrt(sum((g.double().square().sum() for g in gradient), torch.zeros((), dtype=torch.float64)))
        if not bool(torch.isfinite(norms[k])):
            raise NotFinite("a gradient is not finite")
        weight = min(1.0, clip * _MARGIN / max(float(norms[k]), 1e-30))
        for p, g in zip(parameters, gradient, strict=True):
            sums[p].add_(g, alpha=weight)
    return norms


def verify(net: nn.Module, examples: Sequence[Any], tolerance: float = 2e-3) -> None:
    """Refuse a net whose recorded norms or clipped sums differ from those of gradients taken one by one (a few examples)."""
    training = net.training
    net.eval()  # dropout would make the two passes different
    recorder = Recorder(net)
    try:
        fast, slow = ({p: torch.zeros_like(p) for p in recorder.parameters} for _ in range(2))
        expected = add_clipped_units(net, recorder.parameters, [[e] for e in examples], 1.0, slow)
        found = recorder.add_clipped(net.collate(list(examples)), len(examples), 1.0, fast)  # type: ignore[operator]
    finally:
        recorder.close()
        net.train(training)
    scale = float(expected.max()) + 1e-12
    if float((found - expected).abs().max()) > tolerance * scale:
        raise BadInput(_broken(_guilty(net, fast, slow, tolerance)))
    if guilty := _guilty(net, fast, slow, tolerance):
        raise BadInput(_broken(guilty))


def _guilty(net: nn.Module, fast: Sums, slow: Sums, tolerance: float) -> list[str]:
    size = max(float(g.norm()) for g in slow.values()) + 1e-12
    names = {id(p): name for name, p in net.named_parameters()}
    return [names[id(p)] for p in slow if float((fast[p] - slow[p]).norm()) > tolerance * size]


def _broken(names: list[str]) -> str:
    where = ", ".join(names[:3]) or "all parameters together"
    return (
        f"per-example gradients of this net cannot be trusted ({where}): its losses mix examples, depend on padding, or use "
        "a parameter outside a layer that the engine records"
    )
