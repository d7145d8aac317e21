"""An LSTM with coupled gates (CIFG) whose per-example gradient norms come almost for free.

Forward, per step: z = Wx x + Wh h + b, split into (f, o, g); c = s(f) c + (1 - s(f)) tanh(g); h = s(o) tanh(c).
Backward, by hand over time: with dh and dc arriving,
    dc += dh s(o) (1 - tanh(c)^2);   dz_o = dh tanh(c) s(o)(1 - s(o));   dz_f = dc (c_before - tanh(g)) s(f)(1 - s(f));
    dz_g = dc (1 - s(f)) (1 - tanh(g)^2);   dc_before = dc s(f);   dh_before = Wh^T dz.
Norms. Example b's gradient is sum_t dz_t [x_t, h_{t-1}, 1]^T for all three parameters together, so its squared norm is
the sum over s, t of (x_s.x_t + h_{s-1}.h_{t-1} + 1) (dz_s . dz_t): two Gram products. Padding has dz = 0 and adds
exactly nothing.

Source: Greff et al. 2017 (variants of the LSTM); McMahan et al. 2018 (the language model of private federated learning).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .portable.language_model import CoupledLSTM
from .tape import Sums, current, tap

ROUNDING = 2.0**-22  # Gram sums cancel; this much of their largest size is added, so that no norm is understated


class CIFG(CoupledLSTM):
    """The coupled LSTM with its backward pass by hand; records itself on a running tape."""

    records_itself = True

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, T, width) to (B, T, hidden)."""
        given = F.linear(inputs, self.weight_ih, self.bias)
        tape, record = current(), None
        if tape is not None and tape.wants(self.weight_ih, self.weight_hh, self.bias):
            record = Gates(self, inputs)
            tape.add(record)
            given = tap(tape, given, record.keep)
        states = _Recurrence.apply(given, self.weight_hh)
        if record is not None:
            record.states = states.detach()
        return states  # type: ignore[no-any-return]


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, given: Tensor, weight: Tensor) -> Tensor:
        batch, time, three = given.shape
        hidden = three // 3
        states, cells, gates = (given.new_empty(time, batch, n) for n in (hidden, hidden, three))
        h = c = given.new_zeros(batch, hidden)
        turned = weight.T.contiguous()
        for t in range(time):
            f, o, g = torch.addmm(given[:, t], h, turned).split(hidden, 1)
            f, o, g = torch.sigmoid(f), torch.sigmoid(o), torch.tanh(g)
            c = torch.lerp(g, c, f)
            h = o * torch.tanh(c)
            states[t], cells[t] = h, c
            torch.cat([f, o, g], 1, out=gates[t])
        ctx.save_for_backward(states, cells, gates, weight)
        return states.transpose(0, 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor | None]:
        states, cells, gates, weight = ctx.saved_tensors
        arriving = gradients[0].transpose(0, 1)
        time, batch, hidden = states.shape
        through = torch.empty_like(gates)
        dh = dc = states.new_zeros(batch, hidden)
        for t in range(time - 1, -1, -1):
            f, o, g = gates[t].split(hidden, 1)
            before = cells[t - 1] if t else torch.zeros_like(f)
            bent = torch.tanh(cells[t])
            dh = dh + arriving[t]
            dc = dc + dh * o * (1 - bent * bent)
            parts = [dc * (before - g) * f * (1 - f), dh * bent * o * (1 - o), dc * (1 - f) * (1 - g * g)]
            torch.cat(parts, 1, out=through[t])
            dc, dh = dc * f, through[t] @ weight
        own = None
        if ctx.needs_input_grad[1]:
            own = through[1:].flatten(0, 1).T @ states[:-1].flatten(0, 1)
        return through.transpose(0, 1), own


class Gates:
    """The record of one CIFG layer in one pass."""

    def __init__(self, layer: CIFG, inputs: Tensor) -> None:
        self.parameters = (layer.weight_ih, layer.weight_hh, layer.bias)
        self.inputs, self.states, self.gradients = inputs.detach(), torch.empty(0), torch.empty(0)

    @property
    def unused(self) -> bool:
        return self.gradients.numel() == 0

    def keep(self, gradient: Tensor) -> None:
        self.gradients = gradient

    def squared_norms(self) -> Tensor:
        x, h, g = self.inputs, self._before(), self.gradients
        read = x @ x.transpose(1, 2) + h @ h.transpose(1, 2) + 1.0
        back = g @ g.transpose(1, 2)
        size = (read.diagonal(dim1=1, dim2=2) * back.diagonal(dim1=1, dim2=2)).clamp(min=0).sqrt().sum(1)
        return (read * back).sum((1, 2)).clamp(min=0) + ROUNDING * size.square()

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        g = (self.gradients * weights.to(self.gradients.dtype)[:, None, None]).flatten(0, 1)
        of_input, of_state, of_bias = self.parameters
        sums[of_input].addmm_(g.T, self.inputs.flatten(0, 1))
        sums[of_state].addmm_(g.T, self._before().flatten(0, 1))
        sums[of_bias].add_(g.sum(0))

    def _before(self) -> Tensor:
        """The state that each step read: zero, then those of the steps before."""
        return F.pad(self.states[:, :-1], (0, 0, 1, 0))
