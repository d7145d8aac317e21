"""What TextHide trains where the encoder rests: its encodings are there already, on one machine.

    encodings -> pooler (a dense layer with tanh, as BERT has one; or none) -> hidden: mixed and masked -> MLP -> scores

The pooler stands in for an encoder that learns: it is what learns before the hiding. Whoever asks the model hides too, as
the authors do: one text and one mask of the pool, nothing mixed (`outputs_under`). A model that has seen masks alone does
not know encodings without one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from textveil.noise import Source

from .texthide import HidingPlan, Signs, drawn_key, hide, mask_pool, mix_labels
from .texthide_net import mlp_head, target_losses

RATE, BATCH, WARM_UP = 1e-3, 64, 0.1
NO_HIDING = HidingPlan(0, 1)


class HiddenHead(nn.Module):
    """A pooler, if any, and the MLP, with the pool of masks that it was trained under."""

    def __init__(self, width: int, outputs: int, pool: Signs, *, has_pooler: bool = False) -> None:
        super().__init__()
        self.pool = pool
        self.pooler = nn.Sequential(nn.Linear(width, width), nn.Tanh()) if has_pooler else nn.Identity()
        self.mlp = mlp_head(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.mlp(self.pooler(x))


def train_head(
    x: np.ndarray,
    y: np.ndarray,
    plan: HidingPlan,
    *,
    epochs: int,
    seed: int,
    noise: Source,
    public: np.ndarray | None = None,
    has_pooler: bool = False,
) -> HiddenHead:
    """Train on hidden encodings: AdamW, the rate rising over a tenth of the steps and then falling."""
    pool = mask_pool(plan.masks or 0, x.shape[1], f"pool {seed}".encode())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = HiddenHead(x.shape[1], y.shape[1], pool, has_pooler=has_pooler)
    given, targets = torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y.astype(np.float32))
    others = None if public is None else torch.from_numpy(public.astype(np.float32))
    learner = torch.optim.AdamW(net.parameters(), RATE, fused=True)  # one pass over memory: half of the step
    steps = epochs * -(-len(x) // BATCH)
    warm = max(1, round(WARM_UP * steps))
    rates = torch.optim.lr_scheduler.LambdaLR(
        learner, lambda n: (n + 1) / warm if n < warm else (steps - n) / max(1, steps - warm)
    )
    for _ in range(epochs):
        order = noise.permutation(len(x))
        for start in range(0, len(x), BATCH):
            loss = _hidden_loss(net, plan, given, targets, others, order[start : start + BATCH], noise)
            learner.zero_grad()
            loss.backward()
            learner.step()
            rates.step()
    return net.eval()


def _hidden_loss(
    net: HiddenHead, plan: HidingPlan, x: Tensor, y: Tensor, public: Tensor | None, rows: np.ndarray, noise: Source
) -> Any:
    """The mean loss of one hidden batch; inter mixes in as many public texts as the batch has."""
    key = drawn_key(plan, net.pool, len(rows), noise=noise, public=0 if public is None else len(rows))
    others = None if public is None else net.pooler(public[noise.below(len(public), len(rows))])
    scores = net.mlp(hide(key, net.pooler(x[rows]), others))
    return target_losses(scores, mix_labels(key, y[rows]), is_regression=y.shape[1] == 1).mean()


@torch.no_grad()
def outputs(net: HiddenHead, x: np.ndarray) -> np.ndarray:
    """What a head says of encodings that nothing hides."""
    return np.asarray(net(torch.from_numpy(x.astype(np.float32))).numpy())


@torch.no_grad()
def outputs_under(net: HiddenHead, x: np.ndarray, plan: HidingPlan, noise: Source) -> np.ndarray:
    """What a head says of encodings behind a mask each, drawn as in training; nothing is mixed."""
    alone = HidingPlan(plan.masks, 1)
    key = drawn_key(alone, net.pool, len(x), noise=noise)
    pooled = net.pooler(torch.from_numpy(x.astype(np.float32)))
    return np.asarray(net.mlp(hide(key, pooled)).numpy())
