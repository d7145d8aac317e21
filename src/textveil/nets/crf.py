"""A linear-chain CRF output: the score of a tag sequence is the sum of its tags' scores and of its steps' scores.

Claim. `path_losses` is the exact negative log-likelihood of each sentence, and its gradient is (expected - observed) counts.
Derivation. With a_t(j) = sum_i a_{t-1}(i) e^{W_ij} e^{s_tj} the partition sum is Z = sum_j a_last(j) e^{end_j}; every a_t is
divided by its sum c_t, so log Z = sum_t log c_t + log(a_last . e^end). The mirror image b_t gives the chance of a tag,
proportional to a_t(j) b_t(j), and of a step, proportional to a_t(i) e^{W_ij} e^{s_{t+1,j}} b_{t+1}(j). d(-log p)/ds_tj is the
chance of tag j at t less 1 where j is the gold tag; the same holds for steps.

`Chain` holds the step scores and hands them out once per example: what flows back into its output is each example's own
gradient, which is all that per-example clipping needs. Positions behind a sentence's end contribute exactly zero.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .tape import per_example

FLOOR = -300.0  # odds of e^-300 count as e^-300: sums never become 0, however wild the scores


class Chain(nn.Module):
    """Scores of steps: row i, column j is the step from tag i to tag j; two more rows for the first and the last tag.

    `forbidden` pairs (by the tagging scheme, which is public) start at `low` instead of 0, and are learnt from there.
    """

    records_itself = True  # by `per_example`

    def __init__(self, tags: int, forbidden: list[tuple[int, int]] | None = None, low: float = -4.0):
        super().__init__()
        start = torch.zeros(tags + 2, tags)
        for before, after in forbidden or []:
            start[before, after] = low
        self.weight = nn.Parameter(start)

    def forward(self, like: Tensor) -> Tensor:
        """One view of the scores for each example of `like`: (B, tags + 2, tags)."""
        return per_example(self.weight, like.shape[0])


def path_losses(scores: Tensor, steps: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
    """Negative log-likelihood of the gold tags, one number a sentence.

    `scores` (B, T, K); `steps` from a `Chain` (all examples have the same ones); `tags` (B, T), anything where padded.

    >>> steps = Chain(2)(torch.zeros(1, 1, 2))
    >>> loss = path_losses(torch.zeros(1, 3, 2), steps, torch.zeros(1, 3, dtype=torch.long), torch.tensor([3]))
    >>> round(loss.item(), 4)
    2.0794
    """
    return _PathLosses.apply(scores, steps, tags, lengths)  # type: ignore[no-any-return, no-untyped-call]


def path_chances(scores: Tensor, steps: Tensor, paths: list[list[int]], lengths: Tensor) -> list[list[float]]:
    """The chance of each tag of some paths, whatever the other tags are. `steps` is a table (tags + 2, tags).

    >>> path_chances(torch.tensor([[[1.0, 0.0], [0.0, 0.0]]]), torch.zeros(4, 2), [[0, 1]], torch.tensor([2]))[0][1]
    0.5
    """
    tags = torch.zeros(scores.shape[:2], dtype=torch.long)
    for row, path in zip(tags, paths, strict=True):
        row[: len(path)] = torch.tensor(path)
    by_tag, _ = _Chart(scores.detach().double(), steps.double(), lengths).gradients(tags)
    chances = (1 + by_tag.gather(2, tags.unsqueeze(2)).squeeze(2)).clamp(0, 1)  # expected less 1, and 1
    return [row[: len(path)].tolist() for row, path in zip(chances, paths, strict=True)]


class _PathLosses(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, steps: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        chart = _Chart(scores.detach().double(), steps[0].detach().double(), lengths)
        tags = tags.masked_fill(~chart.inside, 0)
        gold = chart.gold(tags)
        if any(ctx.needs_input_grad[:2]):
            by_tag, by_step = chart.gradients(tags)
            ctx.save_for_backward(by_tag.to(scores.dtype), by_step.to(steps.dtype))
        return (chart.log_z - gold).to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        by_tag, by_step = ctx.saved_tensors
        weight = grads[0].view(-1, 1, 1)
        return by_tag * weight, by_step * weight, None, None


class _Chart:
    """Forward sums of one batch, kept for the way back. All in double precision: differences of 300 still count."""

    def __init__(self, scores: Tensor, steps: Tensor, lengths: Tensor):
        self.scores, self.steps, self.lengths = scores, steps, lengths
        self.batch, self.time, self.tags = scores.shape
        self.inside = torch.arange(self.time).unsqueeze(0) < lengths.unsqueeze(1)
        top = scores.amax(2, keepdim=True)
        self.here = (scores - top).clamp(min=FLOOR).exp()
        self.lift = steps.max()
        self.move = (steps - self.lift).clamp(min=FLOOR).exp()
        self._forward(top.squeeze(2))

    def _forward(self, top: Tensor) -> None:
        k = self.tags
        sums, logs = [], []
        now = self.move[k] * self.here[:, 0]
        for t in range(self.time):
            if t:
                new = (now @ self.move[:k]) * self.here[:, t]
                now = torch.where(self.inside[:, t : t + 1], new, now)
            total = now.sum(1, keepdim=True)
            now = now / total
            sums.append(now)
            logs.append(total.squeeze(1).log())
        self.sums = torch.stack(sums, 1)
        end = now @ self.move[k + 1]
        count = self.lengths.double() + 1  # a sentence of n tags has n + 1 steps, first and last included
        per_place = (torch.stack(logs, 1) + top) * self.inside
        self.log_z = per_place.sum(1) + end.log() + count * self.lift

    def gold(self, tags: Tensor) -> Tensor:
        """The score of the gold sequence."""
        k = self.tags
        by_tag = (self.scores.gather(2, tags.unsqueeze(2)).squeeze(2) * self.inside).sum(1)
        by_step = (self.steps[tags[:, :-1], tags[:, 1:]] * self.inside[:, 1:]).sum(1)
        return by_tag + by_step + self.steps[k][tags[:, 0]] + self.steps[k + 1][self._last(tags)]

    def _last(self, tags: Tensor) -> Tensor:
        return tags.gather(1, (self.lengths - 1).unsqueeze(1)).squeeze(1)

    def gradients(self, tags: Tensor) -> tuple[Tensor, Tensor]:
        """Expected less observed counts, of tags at places and of steps."""
        k, move = self.tags, self.move
        after = move[k + 1].expand(self.batch, k)
        chances, arriving = [], []
        for t in range(self.time - 1, -1, -1):
            chance = self.sums[:, t] * after
            chances.append(chance / chance.sum(1, keepdim=True))
            if t:
                onward = self.here[:, t] * after
                before = onward @ move[:k].T
                total = (self.sums[:, t - 1] * before).sum(1, keepdim=True)
                live = self.inside[:, t : t + 1]
                arriving.append(torch.where(live, onward / total, torch.zeros_like(onward)))
                after = torch.where(live, before / before.sum(1, keepdim=True), after)
        expected = torch.stack(chances[::-1], 1)
        gold = torch.zeros_like(expected).scatter_(2, tags.unsqueeze(2), 1.0)
        by_tag = (expected - gold) * self.inside.unsqueeze(2)
        by_step = torch.zeros(self.batch, k + 2, k, dtype=expected.dtype)
        if self.time > 1:
            between = self.sums[:, :-1].transpose(1, 2) @ torch.stack(arriving[::-1], 1) * move[:k]
            seen = gold[:, :-1].transpose(1, 2) @ (gold[:, 1:] * self.inside[:, 1:].unsqueeze(2))
            by_step[:, :k] = between - seen
        by_step[:, k] = by_tag[:, 0]
        by_step[:, k + 1] = by_tag[torch.arange(self.batch), self.lengths - 1]
        return by_tag, by_step
