"""What a private training step must know about a forward pass: which layer read what, and which gradient came back to it.

While a tape runs, every trainable layer leaves a record on it. After the backward pass a record can say each example's
squared gradient norm, and add the weighted sum over examples of the gradients to given buffers, without forming them
one by one:

    class Record:
        parameters: tuple[Parameter, ...]
        unused: bool                                   # its output never reached the loss
        def squared_norms(self) -> Tensor              # (examples,)
        def add_weighted(self, weights, sums) -> None  # sums[p] += sum_b weights[b] * gradient of example b

Common layers (Linear, Embedding, LayerNorm, Conv1d) are recorded by the engine from outside. A layer of our own that is
not made of these either records itself (`records_itself = True`, see nets/lstm.py) or passes its parameters through
`per_example`: small ones (a transition matrix, an initial state) become one copy per example, whose gradients are the
examples' own. Without a tape nothing is recorded and everything is plain torch. All tensors are batch-first: example b
is row b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

Sums = dict[Parameter, Tensor]


class Tape:
    """The records of one forward and backward pass over `examples` examples."""

    def __init__(self, examples: int, wanted: Iterable[Parameter]) -> None:
        self.examples = examples
        self.wanted = {id(p) for p in wanted}
        self.records: list[Any] = []
        self.anchor = torch.zeros((), requires_grad=True)  # keeps a layer in the graph though none of its inputs learns

    def wants(self, *parameters: Parameter | None) -> bool:
        return any(id(p) in self.wanted for p in parameters)

    def add(self, record: Any) -> None:
        self.records.append(record)


_running: Tape | None = None


def current() -> Tape | None:
    """The tape that runs, if any."""
    return _running


@contextmanager
def recording(tape: Tape) -> Iterator[Tape]:
    """Run a tape; no parameter on it takes part in autograd, since the records replace that work."""
    global _running
    before, _running = _running, tape
    try:
        yield tape
    finally:
        _running = before


@contextmanager
def pausing() -> Iterator[None]:
    """Nothing is recorded within: a layer that is computed again leaves no second record."""
    global _running
    before, _running = _running, None
    try:
        yield
    finally:
        _running = before


class _Tap(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, anchor: Tensor, keep: Callable[[Tensor], None]) -> Tensor:
        ctx.keep = keep
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        ctx.keep(gradient)
        return gradient, None, None


def tap(tape: Tape, value: Tensor, keep: Callable[[Tensor], None]) -> Tensor:
    """The same value; `keep` is called with its gradient during the backward pass."""
    return _Tap.apply(value, tape.anchor, keep)


class Copies:
    """A parameter that every example read through its own copy: the copies' gradients are the examples' own."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameters = (parameter,)
        self.gradients: Tensor | None = None

    @property
    def unused(self) -> bool:
        return self.gradients is None

    def keep(self, gradient: Tensor) -> None:
        self.gradients = gradient if self.gradients is None else self.gradients + gradient

    def absorb(self, other: Copies) -> None:
        """Another use of the same parameter in the same pass."""
        if other.gradients is not None:
            self.keep(other.gradients)

    def squared_norms(self) -> Tensor:
        assert self.gradients is not None
        return self.gradients.reshape(len(self.gradients), -1).square().sum(1)

    def add_weighted(self, weights: Tensor, sums: Sums) -> None:
        assert self.gradients is not None
        sums[self.parameters[0]] += torch.tensordot(weights.to(self.gradients.dtype), self.gradients, dims=1)


def per_example(parameter: Parameter, examples: int) -> Tensor:
    """(examples, *shape): the parameter as each example's own copy. For small parameters.

    >>> per_example(Parameter(torch.ones(2, 3)), 5).shape
    torch.Size([5, 2, 3])
    """
    wide = parameter.expand(examples, *parameter.shape)
    tape = current()
    if tape is None or not tape.wants(parameter):
        return wide
    record = Copies(parameter)
    tape.add(record)
    return tap(tape, wide, record.keep)
