"""The MLP head of TextHide, trained on encodings that are there already: an encoder at rest, on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from textveil.noise import Source

from .texthide import HidingPlan, drawn_key, hide, mask_pool, mix_labels
from .texthide_net import mlp_head, target_losses

RATE, BATCH, WARM_UP = 1e-3, 64, 0.1
NO_HIDING = HidingPlan(0, 1)


def train_head(
    x: np.ndarray,
    y: np.ndarray,
    plan: HidingPlan,
    *,
    epochs: int,
    seed: int,
    noise: Source,
    public: np.ndarray | None = None,
) -> nn.Module:
    """The MLP of three layers on hidden encodings: AdamW, the rate rising over a tenth of the steps and then falling."""
    pool = mask_pool(plan.masks or 0, x.shape[1], f"pool {seed}".encode())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = mlp_head(x.shape[1], y.shape[1])
    learner = torch.optim.AdamW(net.parameters(), RATE)
    steps = epochs * -(-len(x) // BATCH)
    warm = max(1, round(WARM_UP * steps))
    rates = torch.optim.lr_scheduler.LambdaLR(
        learner, lambda n: (n + 1) / warm if n < warm else (steps - n) / max(1, steps - warm)
    )
    for _ in range(epochs):
        order = noise.permutation(len(x))
        for start in range(0, len(x), BATCH):
            rows = order[start : start + BATCH]
            key = drawn_key(plan, pool, len(rows), noise=noise, public=0 if public is None else len(public))
            hidden, target = hide(key, x[rows], public), mix_labels(key, y[rows])
            scores = net(torch.from_numpy(hidden.astype(np.float32)))
            loss: Any = target_losses(
                scores, torch.from_numpy(target.astype(np.float32)), is_regression=y.shape[1] == 1
            ).mean()
            learner.zero_grad()
            loss.backward()
            learner.step()
            rates.step()
    return net.eval()


def outputs(net: nn.Module, x: np.ndarray) -> np.ndarray:
    """What a head says of encodings that nothing hides."""
    with torch.no_grad():
        return np.asarray(net(torch.from_numpy(x.astype(np.float32))).numpy())
