"""LoRA adapters for any linear layer (Hu et al. 2022): few numbers learn, so that noise costs less.

Claim. With y = W x + scale * U D x, D of `rank` rows and U of `rank` columns, W at rest, a net learns rank * (in + out)
numbers a layer instead of in * out. U begins at zero, so the net begins as it was. D and U are linear layers, so the
engine's norms, clipping and noise hold for them as for any layer; nothing is new in the proof. `merge_adapters` adds
scale * U D to W: the saved model has no adapters and loads as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from textveil.core import BadInput
from textveil.core.params import positive_integer

ATTENTION = ("query", "value")


class AdaptedLinear(nn.Module):
    """A resting linear layer with a learning product of two thin ones beside it."""

    def __init__(self, base: nn.Linear, rank: int, scale: float = 2.0):
        super().__init__()
        positive_integer("rank", rank)
        self.base, self.scale = base, scale
        base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.scale * self.up(self.down(x))

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """The one layer that does the same."""
        self.base.weight += self.scale * self.up.weight @ self.down.weight
        return self.base


def add_adapters(net: nn.Module, rank: int, names: Sequence[str] = ATTENTION) -> int:
    """Let the net rest and give every linear layer of these names an adapter; how many there are.

    >>> net = nn.ModuleDict({"query": nn.Linear(4, 4), "key": nn.Linear(4, 4)})
    >>> add_adapters(net, 2), sum(p.numel() for p in net.parameters() if p.requires_grad)
    (1, 16)
    """
    places = [
        (module, name, layer)
        for module in list(net.modules())
        for name, layer in list(module.named_children())
        if name in names and isinstance(layer, nn.Linear)
    ]
    if not places:
        known = sorted({n for m in net.modules() for n, layer in m.named_children() if isinstance(layer, nn.Linear)})
        raise BadInput(f"the net has no linear layer named {' or '.join(names)}", possible=", ".join(known))
    net.requires_grad_(False)
    for module, name, layer in places:
        setattr(module, name, AdaptedLinear(layer, rank))
    return len(places)


def merge_adapters(net: nn.Module) -> None:
    """Put every adapter into the layer that it stands beside."""
    for module in list(net.modules()):
        for name, layer in list(module.named_children()):
            if isinstance(layer, AdaptedLinear):
                setattr(module, name, layer.merged())


def adapt_encoder(net: Any, rank: int | None) -> Any:
    """An `Encoder` of which only adapters and head learn; rank 0: the head alone, None: as it is."""
    if rank is None:
        return net
    if not hasattr(net, "model"):
        raise BadInput("adapters belong to an encoder", possible="encoder='minilm'")
    body = net.model.base_model
    if rank == 0:
        body.requires_grad_(False)
    else:
        add_adapters(body, rank)
    return net


def clipped_update(net: Any, examples: Sequence[Any], clip: float, seed: int) -> Any:
    """The clipped sum of the first layer's adapters (their `down` matrices) for a batch, without noise: for attacks.

    `up` is given small values first: at zero, `down` has no gradient.
    """
    from .clipping_tape import Recorder

    attention = net.model.base_model.encoder.layer[0].attention.self
    for layer in (attention.query, attention.value):
        nn.init.normal_(layer.up.weight, std=0.02, generator=torch.Generator().manual_seed(seed))
    recorder = Recorder(net)
    sums = {p: torch.zeros_like(p) for p in recorder.parameters}
    recorder.add_clipped(net.collate(examples), len(examples), clip, sums)
    recorder.close()
    return torch.cat([sums[layer.down.weight] for layer in (attention.query, attention.value)]).numpy()


__all__ = ["AdaptedLinear", "adapt_encoder", "add_adapters", "clipped_update", "merge_adapters"]
