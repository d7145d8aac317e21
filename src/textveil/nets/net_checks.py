"""What a net must not be, if each example is to have a gradient of its own and nothing but noisy sums is to leave.

- No layer may mix the examples of a batch (batch normalisation), whether it learns or rests.
- No value but the learnt ones may change by a pass: running means, or rows that `Embedding(max_norm=...)` shortens
  when they are read, would carry what was read into the model without noise.
- Sums of half precision lose more than the clip allows for: gradients, norms and noise are single or double.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from textveil.core import BadInput

MIXES = (nn.modules.batchnorm._BatchNorm,)
Marks = dict[str, tuple[int, float, float]]


def check_modules(net: nn.Module) -> None:
    """Refuse layers that mix examples or write down what they read; resting ones too."""
    for layer in net.modules():
        kind = type(layer).__name__
        if isinstance(layer, MIXES):
            raise BadInput(
                f"a layer of kind {kind} mixes the examples of a batch, so no example has a gradient of its own",
                possible="LayerNorm or GroupNorm",
            )
        if isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats:
            raise BadInput(
                f"a layer of kind {kind} keeps running means, which no noise protects",
                possible="track_running_stats=False",
            )
        if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)) and layer.max_norm is not None:
            raise BadInput(
                f"a layer of kind {kind} with max_norm shortens the rows that it reads, which shows them",
                possible="max_norm=None",
            )


def check_precision(net: nn.Module) -> None:
    """Refuse half precision, and learning parameters of several kinds."""
    for tensor in (*net.parameters(), *net.buffers()):
        if is_half(tensor):
            raise BadInput(
                f"the net holds numbers of kind {_kind(tensor)}: clipped sums would lose more than the proof allows",
                possible="net.float(), or from_pretrained(..., dtype=torch.float32)",
            )
    kinds = {p.dtype for p in net.parameters() if p.requires_grad}
    if len(kinds) > 1:
        raise BadInput("the learning parameters are of several kinds of numbers", possible="net.float()")


def is_half(tensor: Tensor) -> bool:
    """Whether its numbers have fewer than 32 bits."""
    return tensor.is_floating_point() and tensor.element_size() < 4


def marks(net: nn.Module, *, learning: bool = False) -> Marks:
    """Two sums of each value that rests (buffers too; with `learning` of all), to notice a change without a copy."""
    tensors: dict[str, Tensor] = {name: p for name, p in net.named_parameters() if learning or not p.requires_grad}
    tensors.update(net.named_buffers())
    with torch.no_grad():
        return {name: (t.numel(), *_sums(t)) for name, t in tensors.items()}


def check_unchanged(before: Marks, after: Marks) -> None:
    """Refuse a net whose values were changed by passes over private examples."""
    changed = [name for name in after if after[name] != before.get(name)]
    if changed:
        raise BadInput(
            f"the net changes values of its own while it reads ({', '.join(changed[:3])}): no noise protects them",
            possible="layers without running statistics",
        )


@contextmanager
def unchanged(net: nn.Module) -> Iterator[None]:
    """Passes within may change no parameter and no buffer."""
    before = marks(net, learning=True)
    yield
    check_unchanged(before, marks(net, learning=True))


def _sums(tensor: Tensor) -> tuple[float, float]:
    values = tensor.detach()
    if not values.is_floating_point():
        values = values.double()
    flat = torch.nan_to_num(values.flatten(), nan=1.0, posinf=2.0, neginf=3.0) if not _is_finite(values) else values
    return float(flat.sum(dtype=torch.float64)), float(torch.linalg.vector_norm(flat, dtype=torch.float64))


def _is_finite(values: Tensor) -> bool:
    return bool(torch.isfinite(values.sum(dtype=torch.float64)))


def _kind(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
