"""Per-example gradient norms of Linear, Conv1d and Embedding layers from what went in (a) and what came back (g).

Claim. For a layer y_t = W a_t + c at positions t of one example, the gradient of W is sum_t g_t a_t^T, and

    || sum_t g_t a_t^T ||^2 = sum_{s,t} (a_s . a_t) (g_s . g_t),        that of c: || sum_t g_t ||^2 = sum_{s,t} g_s . g_t

(Gram products; Goodfellow 2015, Li et al. 2022). The sum over examples of w_b times the gradient is one product over
all positions, (w g)^T a, as in a plain step (the book-keeping trick, Bu et al. 2022): no second backward pass. Where
positions are many and the matrix is small, the gradients themselves are cheaper than the Gram matrices, and are formed
instead. An embedding is a Linear layer on one-hot inputs: a_s . a_t is 1 where the words are equal; its sum touches
only rows seen. A convolution is a Linear layer on patches. A weight that an embedding and an output layer share has the
cross term 2 sum_{s,t} (e_s . a_t) g_t[word_s], e being the gradients at the embedding.

Rounding. Gram sums cancel: an error of single precision relative to S^2, S = sum_t |a_t| |g_t| >= the norm, could hide
a norm below sqrt(error) * S. So ROUNDING * S^2 is added: a norm is never understated by that, and hardly ever changed.
Padding has g = 0 and adds exactly nothing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from textveil.nets.tape import Sums

ROUNDING = 2.0**-22


class Dense:
    """A Linear layer's record; used several times in one pass, its positions are joined."""

    def __init__(self, weight: Any, bias: Any, inputs: Tensor, wanted: tuple[bool, bool]) -> None:
        self.weight, self.bias = (weight if wanted[0] else None), (bias if wanted[1] else None)
        self.parameters = tuple(p for p in (self.weight, self.bias) if p is not None)
        self.inputs = inputs.detach()
        self.gradients: Tensor = torch.empty(0)

    @property
    def unused(self) -> bool:
        return self.gradients.numel() == 0

    def keep(self, gradient: Tensor) -> None:
        self.gradients = gradient

    def absorb(self, other: Dense) -> None:
        self.inputs = torch.cat([_positions(self.inputs), _positions(other.inputs)], 1)
        self.gradients = torch.cat([_positions(self.gradients), _positions(other.gradients)], 1)

    def squared_norms(self) -> Tensor:
        a, g = _positions(self.inputs), _positions(self.gradients)
        total = torch.zeros(len(a), dtype=a.dtype)
        if self.weight is not None:
            total = weight_norms(a, g)
        if self.bias is not None:
            total = total + g.sum(1).square().sum(1)
        return total

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        a, g = _positions(self.inputs), _positions(self.gradients)
        g = (g * weights.to(g.dtype)[:, None, None]).flatten(0, 1)
        if self.weight is not None:
            sums[self.weight].view(len(self.weight), -1).addmm_(g.T, a.flatten(0, 1))
        if self.bias is not None:
            sums[self.bias].add_(g.sum(0))


class Patches(Dense):
    """A Conv1d layer's record: Linear on the patches that the filter sees."""

    def __init__(self, layer: nn.Conv1d, inputs: Tensor, wanted: tuple[bool, bool]) -> None:
        padding = layer.padding
        if isinstance(padding, str):  # "same" pads the right side more when the width is even
            reach = layer.dilation[0] * (layer.kernel_size[0] - 1) if padding == "same" else 0
            inputs, padding = F.pad(inputs, (reach // 2, reach - reach // 2)), (0,)
        shape = (1, layer.kernel_size[0])
        seen = F.unfold(
            inputs.detach()[:, :, None], shape, (1, layer.dilation[0]), (0, int(padding[0])), (1, layer.stride[0])
        )
        super().__init__(layer.weight, layer.bias, seen.transpose(1, 2), wanted)

    def keep(self, gradient: Tensor) -> None:
        self.gradients = gradient.transpose(1, 2)


class Rows:
    """An Embedding layer's record: words and the gradients that came back to their vectors."""

    def __init__(self, layer: nn.Embedding, words: Tensor, examples: int) -> None:
        self.weight, self.padding = layer.weight, layer.padding_idx
        self.parameters = (layer.weight,)
        self.words = words.expand(examples, *words.shape[1:]).reshape(examples, -1)
        self.gradients: Tensor = torch.empty(0)

    @property
    def unused(self) -> bool:
        return self.gradients.numel() == 0

    def keep(self, gradient: Tensor) -> None:
        g = gradient.reshape(*self.words.shape, -1)
        self.gradients = g if self.padding is None else g * (self.words != self.padding)[:, :, None]

    def absorb(self, other: Rows) -> None:
        self.words = torch.cat([self.words, other.words], 1)
        self.gradients = torch.cat([self.gradients, other.gradients], 1)

    def squared_norms(self) -> Tensor:
        gram = self.gradients @ self.gradients.transpose(1, 2)
        equal = self.words[:, :, None] == self.words[:, None, :]
        bound = gram.diagonal(dim1=1, dim2=2).clamp(min=0).sqrt().sum(1).square()
        return gram.masked_fill_(~equal, 0).sum((1, 2)).clamp(min=0) + ROUNDING * bound

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        g = self.gradients * weights.to(self.gradients.dtype)[:, None, None]
        sums[self.weight].index_add_(0, self.words.flatten(), g.flatten(0, 1))


def tied_term(rows: Rows, dense: Dense) -> Tensor:
    """Twice the inner product of the two gradients of a weight shared by an embedding and an output layer."""
    a, g = _positions(dense.inputs), _positions(dense.gradients)
    near = rows.gradients @ a.transpose(1, 2)  # (examples, words, positions)
    seen = g.gather(2, rows.words[:, None, :].expand(-1, g.shape[1], -1))  # (examples, positions, words)
    return 2 * (near * seen.transpose(1, 2)).sum((1, 2))


def weight_norms(a: Tensor, g: Tensor) -> Tensor:
    """|| sum_t g_t a_t^T ||^2 for each example, by the cheaper of the two ways."""
    positions, inside, outside = a.shape[1], a.shape[2], g.shape[2]
    if positions == 1:
        return a[:, 0].square().sum(1) * g[:, 0].square().sum(1)
    if positions * (inside + outside) > inside * outside:
        return (g.transpose(1, 2) @ a).flatten(1).square().sum(1)
    return gram_norms(a @ a.transpose(1, 2), g @ g.transpose(1, 2))


def gram_norms(inputs: Tensor, gradients: Tensor) -> Tensor:
    """The norms from the two Gram matrices (examples, positions, positions), rounded up."""
    size = (inputs.diagonal(dim1=-2, dim2=-1) * gradients.diagonal(dim1=-2, dim2=-1)).clamp(min=0).sqrt().sum(-1)
    exact = torch.einsum("...st,...st->...", inputs, gradients)
    return exact.clamp(min=0) + ROUNDING * size.square()


def _positions(x: Tensor) -> Tensor:
    """(examples, positions, features), whatever stood between."""
    return x.reshape(len(x), -1, x.shape[-1])
