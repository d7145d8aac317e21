"""Where each word of a padded batch stands when sentences are packed into steps, in both reading directions.

Three orders of the N words (padding left out):
    sentence order   sentence by sentence as they stand in the batch, word by word
    step order       step by step; within a step the sentences that reach it, longest first (direction 0 reads forwards)
    step order 1     the same places, but sentence s of length n has its word n-1-t at step t: it is read backwards
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..core import BadInput

_LIKE = 0.7  # sentences down to this share of the longest (or 8 words less) share a padded Gram product


@dataclass(frozen=True)
class Group:
    """Some sentences of like length, padded: rows of their words in sentence order and, per direction, in step order."""

    sentences: Tensor
    sentence_rows: Tensor  # (n, T)
    step_rows: Tensor  # (directions * n, T), in the order of words, rows of all directions one after the other
    inside: Tensor  # (n, T)
    padded: bool


class Packing:
    """
    >>> packing = Packing(torch.tensor([1, 3]), 4, both=True)
    >>> packing.sizes, packing.rows
    ([2, 1, 1], 4)
    >>> packing.step_order[0].tolist(), packing.step_order[1].tolist()
    ([1, 0, 2, 3], [3, 0, 2, 1])
    """

    def __init__(self, lengths: Tensor, width: int, both: bool) -> None:
        self.sentences, self.width, self.directions = len(lengths), width, 2 if both else 1
        self.lengths = lengths = lengths.cpu()
        self.longest = int(lengths.max())
        if not 0 < self.longest <= width or int(lengths.min()) < 0:
            raise BadInput(f"lengths must lie within the {width} places of the batch, with at least one word in all")
        self.order = torch.argsort(lengths, descending=True, stable=True)
        ordered = lengths[self.order]
        first = torch.cumsum(lengths, 0) - lengths  # row of each sentence's first word, in sentence order
        step, rank = (torch.arange(self.longest)[:, None] < ordered).nonzero(as_tuple=True)
        self.rows = len(step)
        self.sizes: list[int] = torch.bincount(step, minlength=self.longest).tolist()
        starts = torch.cumsum(torch.tensor([0, *self.sizes[:-1]]), 0)
        self.starts: list[int] = starts.tolist()
        sentence = self.order[rank]
        self.sentence_of_step_row = sentence
        forwards = first[sentence] + step
        self.step_order = [forwards]
        if both:
            self.step_order.append(first[sentence] + lengths[sentence] - 1 - step)
        self.step_place = [torch.argsort(order) for order in self.step_order]  # their inverses
        self._first, self._starts, self._rank = first, starts, torch.argsort(self.order)
        self._previous = (starts[step - 1] + rank)[self.sizes[0] :]
        self._spread = None if self.rows == self.sentences * width else self._rows_of_padded(width)

    def _rows_of_padded(self, width: int) -> Tensor:
        """Where the words stand in the padded batch, seen as (B * T) rows."""
        return (torch.arange(width) < self.lengths[:, None]).flatten().nonzero().squeeze(1)

    def flat(self, padded: Tensor) -> Tensor:
        """(B, T, D) to (N, D) in sentence order."""
        rows = padded.flatten(0, 1)
        return rows if self._spread is None else _Take.apply(rows, self._spread)

    def padded(self, flat: Tensor) -> Tensor:
        """The inverse of `flat`, zeros where nothing stands."""
        rows = flat if self._spread is None else _Put.apply(flat, self._spread, self.sentences * self.width)
        return rows.unflatten(0, (self.sentences, self.width))

    def to_steps(self, flat: Tensor, direction: int) -> Tensor:
        """Rows from sentence order to step order."""
        return flat.index_select(0, self.step_order[direction])

    def to_sentences(self, stepped: Tensor, direction: int) -> Tensor:
        """Rows from step order to sentence order."""
        return stepped.index_select(0, self.step_place[direction])

    def from_steps(self, stepped: Tensor) -> Tensor:
        """(directions, N, H) in step order to (N, directions * H) in sentence order."""
        return torch.cat([self.to_sentences(stepped[d], d) for d in range(self.directions)], 1)

    def steps_of_both(self, flat: Tensor, hidden: int) -> Tensor:
        """The inverse of `from_steps`."""
        pieces = flat.split(hidden, 1)
        return torch.stack([self.to_steps(pieces[d], d) for d in range(self.directions)])

    def before(self, stepped: Tensor) -> Tensor:
        """What each row had at the step before; zeros at the first step."""
        first = stepped.new_zeros(len(stepped), self.sizes[0], stepped.shape[2])
        return torch.cat([first, stepped.index_select(1, self._previous)], 1)

    def groups(self) -> Iterator[Group]:
        """Sentences by like length, the longest first."""
        ordered = self.lengths[self.order].tolist()
        start = 0
        while start < self.sentences:
            longest, end = ordered[start], start + 1
            while end < self.sentences and ordered[end] >= min(_LIKE * longest, longest - 8):
                end += 1
            some = self.order[start:end]
            word = torch.arange(longest)[None]
            inside = word < self.lengths[some][:, None]
            rows = torch.where(inside, self._first[some][:, None] + word, 0)
            stepped = torch.cat([place[rows] + d * self.rows for d, place in enumerate(self.step_place)])
            yield Group(some, rows, stepped, inside, ordered[end - 1] < longest)
            start = end


class _Take(torch.autograd.Function):
    """Some rows; each is taken once, so the way back is a copy."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        ctx.places, ctx.count = places, len(rows)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return gradient.new_zeros(ctx.count, gradient.shape[1]).index_copy_(0, ctx.places, gradient), None


class _Put(torch.autograd.Function):
    """Rows put where they belong among zeros."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, count: int) -> Tensor:
        ctx.places = places
        return rows.new_zeros(count, rows.shape[1]).index_copy_(0, places, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        return gradient.index_select(0, ctx.places), None, None
