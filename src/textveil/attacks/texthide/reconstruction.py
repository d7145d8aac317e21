"""RepRecon (appendix C.3): a net learns to undo the hiding from pairs, and the nearest sentence to its answer is named.

An MLP with two hidden layers of 1,024 learns hidden -> encoding by the squared error, 20 epochs, from pairs that the
adversary made with the same pool; then `texthide.rss` is run on what it makes of the hidden encodings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.texthide.mask_recovery import Floats

WIDTH, EPOCHS = 1024, 20


def reconstruct(hidden: Floats, plain: Floats, asked: Floats, *, seed: int, epochs: int = EPOCHS) -> Floats:
    """Learn from pairs (hidden, plain), and answer for `asked`."""
    import torch
    from torch import nn

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        d = plain.shape[1]
        net = nn.Sequential(nn.Linear(d, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, d))
        learner = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
        given, wanted = torch.from_numpy(np.float32(hidden)), torch.from_numpy(np.float32(plain))
        for _ in range(epochs):
            for rows in torch.randperm(len(given)).split(64):
                loss: Any = (net(given[rows]) - wanted[rows]).square().mean()
                learner.zero_grad()
                loss.backward()
                learner.step()
        with torch.no_grad():
            return np.asarray(net(torch.from_numpy(np.float32(asked))).numpy())
