"""An LSTM whose backward pass is written by hand, so that per-example gradient norms cost two Gram products.

Claim. Forward and gradients equal those of torch.nn.LSTM on packed sequences; padding contributes exactly nothing, so a
sentence alone gives what it gives in any batch. `weight_ih_l0 ...` have torch's names and order: the state loads into
torch.nn.LSTM. (Torch's second bias adds to the first and would be noised twice; here it is a buffer of zeros.)

Derivation. z = W x_t + U h_{t-1} + b splits into i, f, g, o (as in torch); c_t = f c_{t-1} + i g, h_t = o tanh(c_t).
Backward, with dh and dc arriving at step t:
    dc += dh o (1 - tanh(c)^2),   dz_o = dh tanh(c) o(1-o),   dz_i = dc g i(1-i),
    dz_f = dc c_{t-1} f(1-f),     dz_g = dc i (1-g^2),        dh_{t-1} += U^T dz,   dc_{t-1} = dc f.
All factors beside dh and dc are known beforehand and are formed for all steps at once. Example b's gradient of (W, U,
b) is sum_t dz_t [x_t, h_{t-1}, 1]^T, hence || . ||^2 = sum_{s,t} (x_s.x_t + h_{s-1}.h_{t-1} + 1)(dz_s.dz_t).

Speed. Steps are packed: sorted by length, step t holds the sentences that are that long. The reverse direction reads
each sentence backwards, so both directions have the same steps and run as one batched product. Gram products go by
groups of like length.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .packing import Packing
from .tape import Sums, Tape, current

ROUNDING = 2.0**-22  # Gram sums cancel; this much of their largest size is added, so that no norm is understated


class LSTM(nn.Module):
    """(B, T, input) and lengths (B,) to (B, T, hidden * directions), zeros behind each sentence's end."""

    records_itself = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bidirectional, self.dropout = bidirectional, dropout
        self.directions = 2 if bidirectional else 1
        reach = 1 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * self.directions
            for tail in self._tails(layer):
                for name, shape in (("ih", width), ("hh", hidden_size)):
                    weight = torch.empty(4 * hidden_size, shape).uniform_(-reach, reach)
                    self.register_parameter(f"weight_{name}_{tail}", nn.Parameter(weight))
                bias = torch.empty(4 * hidden_size).uniform_(-reach, reach)
                self.register_parameter(f"bias_ih_{tail}", nn.Parameter(bias))
                self.register_buffer(f"bias_hh_{tail}", torch.zeros(4 * hidden_size))

    def _tails(self, layer: int) -> list[str]:
        return [f"l{layer}", f"l{layer}_reverse"][: self.directions]

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        packing = Packing(lengths, inputs.shape[1], self.bidirectional)
        x = packing.flat(inputs)  # rows sentence by sentence, without padding
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = F.dropout(x, self.dropout, self.training)
            x = self._layer(x, layer, packing)
        return packing.padded(x)

    def _layer(self, x: Tensor, layer: int, packing: Packing) -> Tensor:
        own = [
            [getattr(self, f"{part}_{tail}") for part in ("weight_ih", "weight_hh", "bias_ih")]
            for tail in self._tails(layer)
        ]
        weights = [p for direction in own for p in direction]
        tape = current()
        if tape is not None and tape.wants(*weights):
            record = GateRecord(tuple(weights), packing, tape)
            tape.add(record)
            return _Recurrence.apply(x, packing, record, tape.anchor, *weights)
        return _Recurrence.apply(x, packing, None, None, *weights)


class _Recurrence(torch.autograd.Function):
    """One layer, all directions: rows (N, D) in sentence order to rows (N, H * directions) in sentence order."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, packing: Packing, record: Any, anchor: Any, *weights: Tensor) -> Tensor:
        directions, hidden = packing.directions, weights[1].shape[1]
        back = torch.stack(weights[1::3])  # (directions, 4H, H)
        gates = x.new_empty(directions, packing.rows, 4 * hidden)
        for d in range(directions):
            torch.addmm(weights[3 * d + 2], packing.to_steps(x, d), weights[3 * d].T, out=gates[d])
        cells, bent, states = (x.new_empty(directions, packing.rows, hidden) for _ in range(3))
        _run(gates, cells, bent, states, back.transpose(1, 2).contiguous(), packing)
        ctx.packing, ctx.record, ctx.into, ctx.back = packing, record, weights[0::3], back
        ctx.save_for_backward(x, gates, cells, bent, states)
        return packing.from_steps(states)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, arriving: Tensor) -> tuple[Any, ...]:
        x, gates, cells, bent, states = ctx.saved_tensors
        packing: Packing = ctx.packing
        through = _run_back(arriving, gates, cells, bent, ctx.back, packing)
        dx = None
        if ctx.needs_input_grad[0]:
            dx = sum(packing.to_sentences(through[d] @ ctx.into[d], d) for d in range(packing.directions))
        before = packing.before(states)
        own: list[Tensor | None] = [None] * (3 * packing.directions)
        if ctx.record is not None:
            ctx.record.keep(x, before, through)
        else:
            for d in range(packing.directions):
                dz = through[d]
                own[3 * d : 3 * d + 3] = dz.T @ packing.to_steps(x, d), dz.T @ before[d], dz.sum(0)
        return (dx, None, None, None, *own)


def _run(gates: Tensor, cells: Tensor, bent: Tensor, states: Tensor, back: Tensor, packing: Packing) -> None:
    """The time loop: gates hold W x + b and become i, f, g, o after their curves; the rest is filled."""
    hidden, sizes = cells.shape[2], packing.sizes
    i, f, g, o = (part.split(sizes, 1) for part in gates.split(hidden, 2))
    i_and_f = gates[..., : 2 * hidden].split(sizes, 1)
    whole, now, curved, out = (t.split(sizes, 1) for t in (gates, cells, bent, states))
    for t, size in enumerate(sizes):
        if t:
            h, c = out[t - 1], now[t - 1]
            if size < sizes[t - 1]:
                h, c = h[:, :size], c[:, :size]
            whole[t].baddbmm_(h, back)
        i_and_f[t].sigmoid_()
        g[t].tanh_()
        o[t].sigmoid_()
        torch.mul(i[t], g[t], out=now[t])
        if t:
            now[t].addcmul_(f[t], c)
        torch.tanh(now[t], out=curved[t])
        torch.mul(o[t], curved[t], out=out[t])


def _run_back(arriving: Tensor, gates: Tensor, cells: Tensor, bent: Tensor, back: Tensor, packing: Packing) -> Tensor:
    """The gradients of z for every step, (directions, N, 4H)."""
    hidden, sizes = cells.shape[2], packing.sizes
    through = _slopes(gates, packing.before(cells), bent, hidden)
    into_cell = (1 - bent * bent).mul_(gates[..., 3 * hidden :])
    dh_all = packing.steps_of_both(arriving, hidden).split(sizes, 1)
    whole, dc_all = through.split(sizes, 1), into_cell.split(sizes, 1)  # factors, which become gradients in place
    of_cell = through[..., : 3 * hidden].unflatten(2, (3, hidden)).split(sizes, 1)
    of_out = through[..., 3 * hidden :].split(sizes, 1)
    wide = into_cell.unsqueeze(2).split(sizes, 1)
    f = gates[..., hidden : 2 * hidden].split(sizes, 1)
    for t in range(len(sizes) - 1, -1, -1):
        dh, dc = dh_all[t], dc_all[t]
        if t + 1 == len(sizes):
            dc.mul_(dh)
        else:
            later = sizes[t + 1]
            few = later < sizes[t]
            (dh[:, :later] if few else dh).baddbmm_(whole[t + 1], back)
            dc.mul_(dh)
            (dc[:, :later] if few else dc).addcmul_(dc_all[t + 1], f[t + 1])
        of_out[t].mul_(dh)
        of_cell[t].mul_(wide[t])
    return through


def _slopes(gates: Tensor, cells_before: Tensor, bent: Tensor, hidden: int) -> Tensor:
    """What dc (first three quarters) and dh (the last) are multiplied with to give the gradient of z."""
    i, f, g, o = gates.split(hidden, 2)
    out = torch.empty_like(gates)
    of_i, of_f, of_g, of_o = out.split(hidden, 2)
    for gate, factor, slope in ((i, g, of_i), (f, cells_before, of_f), (o, bent, of_o)):
        torch.addcmul(gate, gate, gate, value=-1, out=slope).mul_(factor)
    torch.mul(g, g, out=of_g)
    of_g.neg_().add_(1).mul_(i)
    return out


class GateRecord:
    """The record of one layer in one pass: inputs, states before each step, gradients of the gates."""

    def __init__(self, parameters: tuple[Any, ...], packing: Packing, tape: Tape) -> None:
        self.weights, self.packing = parameters, packing
        self.learning = tuple(tape.wants(p) for p in parameters)
        self.parameters = tuple(p for p, learns in zip(parameters, self.learning, strict=True) if learns)
        self.through: Tensor | None = None

    @property
    def unused(self) -> bool:
        return self.through is None

    def keep(self, x: Tensor, before: Tensor, through: Tensor) -> None:
        self.x, self.before, self.through = x, before, through

    def squared_norms(self) -> Tensor:
        assert self.through is not None
        packing, norms = self.packing, self.x.new_zeros(self.packing.sentences)
        before, through = self.before.flatten(0, 1), self.through.flatten(0, 1)
        w, u, b = (self._learning(part) for part in range(3))
        for group in packing.groups():
            rows = self.x[group.sentence_rows]  # (n, T, D)
            of_input = rows @ rows.transpose(1, 2)
            h, g = before[group.step_rows], through[group.step_rows]  # (directions * n, T, .)
            if group.padded:
                g.mul_(group.inside.repeat(packing.directions, 1).unsqueeze(2))
            read = (h @ h.transpose(1, 2)).unflatten(0, (packing.directions, -1)).mul_(u).add_(of_input * w).add_(b)
            back = (g @ g.transpose(1, 2)).view_as(read)
            size = (read.diagonal(dim1=2, dim2=3) * back.diagonal(dim1=2, dim2=3)).clamp_(min=0).sqrt_().sum(2)
            exact = read.mul_(back).sum((2, 3)).clamp_(min=0)
            norms[group.sentences] += (exact + ROUNDING * size.square()).sum(0)
        return norms

    def _learning(self, part: int) -> Tensor:
        """1 for each direction whose W (part 0), U (1) or b (2) learns, else 0."""
        return torch.tensor(self.learning[part::3], dtype=self.x.dtype).view(-1, 1, 1, 1)

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        assert self.through is not None
        for d in range(self.packing.directions):
            w, u, b = self.weights[3 * d : 3 * d + 3]
            w_learns, u_learns, b_learns = self.learning[3 * d : 3 * d + 3]
            g = self.through[d] * weights.to(self.x.dtype)[self.packing.sentence_of_step_row][:, None]
            if w_learns:
                sums[w].addmm_(g.T, self.packing.to_steps(self.x, d))
            if u_learns:
                sums[u].addmm_(g.T, self.before[d])
            if b_learns:
                sums[b].add_(g.sum(0))
