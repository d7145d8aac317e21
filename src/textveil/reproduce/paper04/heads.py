"""Paper 04: heads trained on frozen encodings, plainly, under TextHide, or under DP-SGD, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from textveil.federated.texthide import HidingPlan, drawn_key, hide, mask_pool, mix_labels
from textveil.federated.texthide_net import mlp_head, target_losses
from textveil.noise.source import seeded
from textveil.training.calibrate import calibrate_plan
from textveil.training.engine import PrivateTrainer
from textveil.training.plan import Plan, steps_for

RATE, BATCH, WARM_UP = 1e-3, 64, 0.1
NO_HIDING = HidingPlan(0, 1)


def train_head(
    x: np.ndarray, y: np.ndarray, plan: HidingPlan, *, epochs: int, seed: int, public: np.ndarray | None = None
) -> nn.Module:
    """The MLP of three layers on hidden encodings: AdamW, the rate rising over a tenth of the steps and then falling."""
    noise = seeded(seed)
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


def score_of(task: str, said: np.ndarray, y: np.ndarray) -> float:
    """The task's own score: Matthews' correlation (CoLA), Pearson's (STS-B), else accuracy."""
    if task == "STS-B":
        spread = said[:, 0].std()
        return 0.0 if spread < 1e-9 else float(np.corrcoef(said[:, 0], y[:, 0])[0, 1])
    guess, truth = said.argmax(1), y.argmax(1)
    if task != "CoLA":
        return float((guess == truth).mean())
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(truth, guess))


class VectorHead(nn.Module):
    """A linear head on encodings, as the private trainer takes it: examples are (vector, class)."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, classes)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def collate(self, examples: Any) -> dict[str, Tensor]:
        vectors, target = zip(*examples, strict=True)
        return {"x": torch.from_numpy(np.stack(vectors)), "target": torch.tensor(target)}

    def length(self, example: Any) -> int:
        return 1

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        return self.out(batch["x"])

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        return nn.functional.cross_entropy(self(batch), batch["target"], reduction="none")


def train_private_head(
    x: np.ndarray, y: np.ndarray, *, epsilon: float, delta: float, epochs: int, batch: int, rate: float, seed: int
) -> tuple[VectorHead, Plan]:
    """DP-SGD on a linear head: example-level (epsilon, delta), by the trainer that `textveil train` uses."""
    plan = Plan(noise=1.0, batch=batch, examples=len(x), steps=steps_for(len(x), batch, epochs), clip=1.0)
    plan = calibrate_plan(plan, epsilon, delta)
    net = VectorHead(x.shape[1], y.shape[1])
    trainer = PrivateTrainer(net, plan, optimiser="adamw", rate=rate, source=seeded(seed), micro_batch=max(256, batch))
    trainer.fit(list(zip(x.astype(np.float32), y.argmax(1).tolist(), strict=True)))
    return net, plan
