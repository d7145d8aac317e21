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
from textveil.nets.net_checks import check_modules, check_precision, unchanged
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
    net: Any,
    parameters: Sequence[Parameter],
    units: Sequence[Sequence[Any]],
    clip: float,
    sums: Sums,
    micro_batch: int = 64,
) -> Tensor:
    """Add each unit's clipped gradient (nothing where it is not finite); returns the norms before clipping."""
    norms = torch.zeros(len(units))
    for k, unit in enumerate(units):
        if not len(unit):
            continue  # a user without examples contributes nothing
        gradient = unit_gradient(net, parameters, unit, micro_batch)
        norms[k] = torch.sqrt(sum((g.double().square().sum() for g in gradient), torch.zeros((), dtype=torch.float64)))
        if not bool(torch.isfinite(norms[k])):
            continue  # a unit without a finite gradient contributes nothing; stopping would show that it is there
        weight = min(1.0, clip * _MARGIN / max(float(norms[k]), 1e-30))
        for p, g in zip(parameters, gradient, strict=True):
            sums[p].add_(g, alpha=weight)
    return norms


def verify(net: nn.Module, examples: Sequence[Any], tolerance: float = 2e-3) -> None:
    """Refuse a net whose recorded norms or clipped sums differ from those of gradients taken one by one (a few
    examples), in training mode; or that changes values of its own while it reads."""
    training = net.training
    recorder, steady = Recorder(net), _Steady(net)
    try:
        with unchanged(net):
            fast, slow = ({p: torch.zeros_like(p) for p in recorder.parameters} for _ in range(2))
            norms = add_clipped_units(steady, recorder.parameters, [[e] for e in examples], 1.0, slow)
            finite = [e for e, norm in zip(examples, norms, strict=True) if bool(torch.isfinite(norm))]
            if not finite:
                raise NotFinite("the net's losses or gradients are not finite for the examples it was tried on")
            found = recorder.add_clipped(steady.collate(finite), len(finite), 1.0, fast)
    finally:
        recorder.close()
        net.train(training)
    expected = norms[torch.isfinite(norms)]
    scale = float(expected.max()) + 1e-12
    if not float((found - expected).abs().max()) <= tolerance * scale:
        raise BadInput(_broken(_guilty(net, fast, slow, tolerance)))
    if guilty := _guilty(net, fast, slow, tolerance):
        raise BadInput(_broken(guilty))


def verify_user(net: nn.Module, examples: Sequence[Any]) -> None:
    """Refuse a net that changes values of its own while it reads the examples of a user."""
    check_modules(net)
    check_precision(net)
    training, steady = net.training, _Steady(net)
    try:
        with unchanged(net):
            unit_gradient(steady, [p for p in net.parameters() if p.requires_grad], examples, len(examples))
    finally:
        net.train(training)


class _Steady:
    """A net with nothing left to chance: batches as in evaluation, losses as in training but for dropout."""

    def __init__(self, net: Any) -> None:
        self.net, self.losses = net, net.losses

    def collate(self, examples: Sequence[Any]) -> Any:
        self.net.eval()
        batch = self.net.collate(list(examples))
        self.net.train()
        for layer in self.net.modules():
            if isinstance(layer, nn.modules.dropout._DropoutNd) or getattr(layer, "records_itself", False):
                layer.eval()
        return batch


def _guilty(net: nn.Module, fast: Sums, slow: Sums, tolerance: float) -> list[str]:
    size = max(float(g.norm()) for g in slow.values()) + 1e-12
    names = {id(p): name for name, p in net.named_parameters()}
    return [names[id(p)] for p in slow if not float((fast[p] - slow[p]).norm()) <= tolerance * size]


def _broken(names: list[str]) -> str:
    where = ", ".join(names[:3]) or "all parameters together"
    return (
        f"per-example gradients of this net cannot be trusted ({where}): its losses mix examples, depend on padding or on "
        "chance, or use a parameter outside a layer that the engine records"
    )
