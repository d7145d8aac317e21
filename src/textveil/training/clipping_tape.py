"""Clipped sums in one forward and one backward pass: every layer's record gives norms first, then its weighted sum.

Claim. `add_clipped` adds sum_b min(1, C / n_b) * gradient_b to the buffers, n_b the norm of example b's gradient over
all trainable parameters together. Derivation: the loss of example b depends on the batch only through row b of every
layer, so the gradient that comes back to row b of a layer is that of example b alone; nets/tape.py and norms_*.py say
how norms and sums follow from it. `verify` compares norms and sums with gradients taken one example at a time, and
`PrivateTrainer` calls it before its first step, so a net whose layers are used in a way that breaks the claim is
refused rather than trained. An example whose gradient is not finite (a loss that overflows, say) must contribute nothing,
and not stop the run, which would show it: then `add_clipped` adds nothing at all, and the engine halves the micro-batch
until such an example stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter

from textveil.core import BadInput
from textveil.core.params import needs
from textveil.nets.net_checks import check_modules, check_precision, is_half
from textveil.nets.tape import Sums, Tape, current, recording, tap

from .norms_dense import Dense, Patches, Rows, tied_term
from .norms_opacus import Sampled
from .norms_scale import Scale

_MARGIN = 1 - 2.0**-18  # single precision may round a norm down by less than this


class Recorder:
    """Hooks on the layers of a net that leave records while a tape runs."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net
        self.parameters: list[Parameter] = [p for p in net.parameters() if p.requires_grad]
        if not self.parameters:
            raise BadInput("the net has no parameter that learns")
        check_modules(net)
        check_precision(net)
        learning = {id(p) for p in self.parameters}
        self._hooks = []
        for layer in net.modules():
            own = learning & {id(p) for p in layer.parameters(recurse=False)} - _owned_within(layer)
            if not own or getattr(layer, "records_itself", False):
                continue
            if not _known(layer):
                needs("training", "opacus")
            self._hooks.append(layer.register_forward_hook(_leave_record))

    def close(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    @contextmanager
    def resting(self) -> Iterator[None]:
        """No parameter takes part in autograd: their gradients come from the records."""
        for p in self.parameters:
            p.requires_grad_(False)
        try:
            yield
        finally:
            for p in self.parameters:
                p.requires_grad_(True)

    def add_clipped(self, batch: Any, examples: int, clip: float, sums: Sums) -> Tensor:
        """Add the clipped gradients of a micro-batch, or nothing where a norm is not finite; the norms before clipping."""
        with self.resting():
            with recording(Tape(examples, self.parameters)) as tape:
                losses = self.net.losses(batch)
                check_losses(losses, examples)
                losses.sum().backward()
            with torch.no_grad():
                return _settle(tape, clip, sums)


def _settle(tape: Tape, clip: float, sums: Sums) -> Tensor:
    records = _joined(tape.records)
    squared = torch.zeros(tape.examples)
    for record in records:
        squared = squared + record.squared_norms()
    for rows, dense in _tied(records):
        squared = squared + tied_term(rows, dense)
    norms = squared.clamp(min=0).sqrt()
    if not bool(torch.isfinite(norms).all()):
        return norms
    weights = (clip * _MARGIN / norms.clamp(min=1e-30)).clamp(max=1.0)
    for record in records:
        record.add_weighted(weights, sums)
    return norms


class NotFinite(BadInput):
    """Weights that are no numbers any more, or a net that gives none for any example it is tried on."""


def check_losses(losses: Tensor, examples: int) -> None:
    """One loss per example."""
    if losses.shape != (examples,):
        raise BadInput(
            f"the net's losses have the shape {tuple(losses.shape)}", possible=f"one loss per example ({examples},)"
        )


def _owned_within(layer: nn.Module) -> set[int]:
    """Parameters that a layer inside this one holds too: that one's record covers them."""
    inner = (m for m in layer.modules() if m is not layer)
    return {id(p) for m in inner for p in m.parameters(recurse=False)}


def _known(layer: nn.Module) -> bool:
    if isinstance(layer, nn.Conv1d):
        return layer.groups == 1 and layer.padding_mode == "zeros"
    if isinstance(layer, nn.Embedding):
        return not layer.scale_grad_by_freq
    return type(layer).forward in (nn.Linear.forward, nn.LayerNorm.forward)


def _leave_record(layer: nn.Module, inputs: tuple[Any, ...], output: Any) -> Any:
    tape = current()
    if tape is None:
        return None
    if not isinstance(output, Tensor) or len(inputs) != 1:
        raise BadInput(f"a layer of kind {type(layer).__name__} is recorded only with one tensor in and one out")
    x = inputs[0]
    if is_half(output):
        raise BadInput(f"a layer of kind {type(layer).__name__} puts out half precision", possible="no autocast")
    if len(output) == 1 != tape.examples:  # positions, say, that all examples share: each gets its own copy
        x, output = (t.expand(tape.examples, *t.shape[1:]) for t in (x, output))
    if len(output) != tape.examples:
        raise BadInput(
            f"a layer of kind {type(layer).__name__} put out {len(output)} rows for {tape.examples} examples",
            possible="tensors whose first dimension is the example",
        )
    record = _record(layer, x, tape)
    tape.add(record)
    return tap(tape, output, record.keep)


def _record(layer: nn.Module, x: Tensor, tape: Tape) -> Any:
    if not _known(layer):
        return Sampled(layer, x)
    if isinstance(layer, nn.Embedding):
        return Rows(layer, x, tape.examples)
    wanted = (tape.wants(layer.weight), tape.wants(layer.bias))
    if isinstance(layer, nn.Linear):
        return Dense(layer.weight, layer.bias, x, wanted)
    return Patches(layer, x, wanted) if isinstance(layer, nn.Conv1d) else Scale(layer, x, wanted)


def _joined(records: list[Any]) -> list[Any]:
    """One record per kind and parameters: a layer used twice in a pass has one gradient, the sum of both uses."""
    kept: dict[Any, Any] = {}
    for record in records:
        if record.unused:
            continue  # its output never reached the loss
        key = (type(record), *(id(p) for p in record.parameters))
        if key not in kept:
            kept[key] = record
        elif hasattr(record, "absorb"):
            kept[key].absorb(record)
        else:
            raise BadInput(f"a layer recorded by {type(record).__name__} was used twice in one pass")
    return list(kept.values())


def _tied(records: list[Any]) -> list[tuple[Rows, Dense]]:
    """Pairs that share a weight; any other sharing has no rule here."""
    owners: dict[int, list[Any]] = {}
    for record in records:
        for p in record.parameters:
            owners.setdefault(id(p), []).append(record)
    pairs = []
    for shared in (o for o in owners.values() if len(o) > 1):
        rows, dense = ([r for r in shared if type(r) is kind] for kind in (Rows, Dense))
        if (len(shared), len(rows), len(dense)) != (2, 1, 1):
            kinds = ", ".join(type(r).__name__ for r in shared)
            raise BadInput(
                f"a parameter is shared by layers ({kinds}) whose joint gradient has no rule",
                possible="an embedding and one Linear layer",
            )
        pairs.append((rows[0], dense[0]))
    return pairs
