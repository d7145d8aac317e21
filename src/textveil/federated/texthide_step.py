"""Algorithm 2 as a federation runs it: each client sends the gradient of one hidden batch, and AdamW steps on the server.

A client's pool is made from its own secret key and its data, so it is the same in every round and in every process; what
hides a batch is drawn anew each time. The m masks are dealt over the clients (their pools sum to m), or each has m.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .local import LocalUpdate
from .server_step import ServerStep
from .texthide import HidingPlan, Signs, drawn_key, mask_pool
from .weights import Flat, trainable


@dataclass(frozen=True)
class TextHideStep:
    """One client's round. `noise` has `of(part)`; `public` opens the public texts of the scheme inter."""

    plan: HidingPlan
    noise: Any
    secret: bytes = field(repr=False)
    batch: int = 16
    pool: int | None = None  # masks of this client; None: as many as the plan says
    public: Callable[[], Sequence[Any]] | None = None

    name: str = "texthide"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        import torch

        noise = self.noise.of(part)
        chosen = [examples[i] for i in batch_rows(len(examples), self.batch, seed)]
        public = self._public_batch(net, len(chosen), noise)
        key = drawn_key(self.plan, self.client_pool(net, examples), len(chosen), noise=noise, public=len(chosen))
        parameters = list(trainable(net).values())
        net.train()
        net.zero_grad(set_to_none=True)
        loss = net.hidden_losses(net.collate(chosen), key, public).mean()
        loss.backward()
        sent = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        gradient = torch.cat([g.reshape(-1) for g in sent])
        return LocalUpdate(-np.asarray(gradient.float().numpy()), float(loss.detach()))

    def client_pool(self, net: Any, examples: Sequence[Any]) -> Signs:
        """This client's masks; none where the plan has none or draws new ones."""
        size = 0 if not self.plan.masks else self.pool or self.plan.masks
        own = hashlib.sha256(self.secret + repr(list(examples)).encode()).digest()
        return _pool(size, net.width, own)

    def _public_batch(self, net: Any, size: int, noise: Any) -> Any:
        if self.plan.mixed == self.plan.private or self.public is None:
            return None
        texts = self.public()
        return net.pieces([texts[i] for i in noise.below(len(texts), size)])


def batch_rows(examples: int, batch: int, seed: int) -> list[int]:
    """Which examples of a client make its batch: drawn from the number that the server sends, as any order is."""
    return [int(i) for i in np.random.default_rng(seed).permutation(examples)[:batch]]


@lru_cache(maxsize=64)
def _pool(size: int, width: int, key: bytes) -> Signs:
    return mask_pool(size, width, key)


def pool_sizes(masks: int | None, clients: int, *, per_client: bool = False) -> int | None:
    """How many masks each client has: its share of m, at least one; or all m.

    >>> pool_sizes(256, 4), pool_sizes(256, 4, per_client=True), pool_sizes(None, 4)
    (64, 256, None)
    """
    return masks if not masks or per_client else max(1, masks // clients)


@dataclass(frozen=True)
class WarmedAdamW(ServerStep):
    """AdamW whose rate rises over the first tenth of the rounds and then falls to zero, both in a line."""

    kind: str = "adam"
    rate: float = 5e-5
    second: float = 0.999
    tiny: float = 1e-8
    decay: float = 0.01
    rounds: int = 100
    warm_up: float = 0.1

    def factor(self, count: int) -> float:
        """What the rate is multiplied with in this step (counted from 1).

        >>> [round(WarmedAdamW(rounds=10, warm_up=0.2).factor(n), 3) for n in (1, 2, 6, 10)]
        [0.5, 1.0, 0.556, 0.111]
        """
        warm = max(1, round(self.warm_up * self.rounds))
        if count <= warm:
            return count / warm
        return max(0.0, (self.rounds - count + 1) / (self.rounds - warm + 1))

    def __call__(self, mean: Flat, memory: dict[str, Any], weights: Flat | None = None) -> Flat:
        step = super().__call__(mean, memory, weights)
        return np.float32(self.factor(memory["count"])) * step
