"""A language model whose weights differ from unit to unit: many small trainings in one pass.

Claim. With weights of shape (units, ...) and the examples of all units one after the other, equally many of each, every
unit's losses are those of a net with its own weights, and depend on no other's: a gradient of their sum is each unit's own
gradient. A weight without that first dimension is shared (frozen). A small net spends most of its time between operations,
not in them, so ten units at once cost little more than two or three one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

Weights = Mapping[str, Tensor]


def stacked_losses(weights: Weights, units: int, batch: Mapping[str, Tensor]) -> Tensor:
    """The loss of each example, (units, examples of each): the mean over its own words, as the net itself has it."""
    rows, target = batch["rows"], batch["target"]
    each, time = len(rows) // units, rows.shape[1]
    read = _vectors(weights["vectors.weight"], rows.view(units, -1))
    states = _recurrence(weights, read.view(units, each, time, -1))
    out = _linear(states, weights["project.weight"], weights["project.bias"])
    scores = _linear(out, weights["vectors.weight"], weights["out.bias"])
    logs = F.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=-100, reduction="none")
    return logs.view(units, each, time).sum(2) / batch["lengths"].view(units, each)


def _vectors(table: Tensor, rows: Tensor) -> Tensor:
    """Each unit's words looked up in its own table; (units, words of it, width)."""
    if table.dim() == 2:
        return F.embedding(rows, table)
    units, words, _ = table.shape
    own = torch.arange(units, device=rows.device).unsqueeze(1) * words
    return F.embedding(rows + own, table.flatten(0, 1))


def _linear(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """(units, places, width) times each unit's own weight, or the shared one."""
    if weight.dim() == 3 and bias.dim() == 2:
        return torch.baddbmm(bias.unsqueeze(1), inputs, weight.mT)
    return inputs @ weight.mT + (bias.unsqueeze(1) if bias.dim() == 2 else bias)


def _recurrence(weights: Weights, read: Tensor) -> Tensor:
    """The coupled LSTM (`cifg`) over (units, examples, time, width); (units, places, hidden)."""
    units, each, time, _ = read.shape
    given = _linear(read.flatten(1, 2), weights["cell.weight_ih"], weights["cell.bias"]).view(units, each, time, -1)
    hidden = given.shape[-1] // 3
    h = c = given.new_zeros(units, each, hidden)
    states, turned = [], weights["cell.weight_hh"].mT
    for t in range(time):
        f, o, g = (given[:, :, t] + h @ turned).split(hidden, 2)
        c = torch.lerp(torch.tanh(g), c, torch.sigmoid(f))
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return torch.stack(states, 2).flatten(1, 2)
