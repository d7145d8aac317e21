"""Made-up trained models, on which attacks are checked: they remember what they were trained on, or nothing."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.attacks.exposure import Members
from textveil.attacks.training.canaries import make_canaries
from textveil.attacks.training.seen import CanariesSeen, Losses, ModelSeen
from textveil.noise import secure

SECRETS = tuple(f"secret{i}" for i in range(64))
EXAMPLES, OWN = 300, 100


def secrets_told(tells: str) -> CanariesSeen:
    """Canaries that all went in."""
    canaries = make_canaries(SECRETS, secure(), copies=(1,), each=12, generic=8)
    return CanariesSeen(_memory([c.text for c in canaries.canaries], tells), canaries)


def coins_told(tells: str) -> CanariesSeen:
    """Canaries that went in by coins."""
    canaries = make_canaries(SECRETS, secure(), forms=["random"], copies=(1,), each=200, coin=True)
    return CanariesSeen(_memory([c.text for c in canaries.canaries if c.inserted], tells), canaries)


def members_told(tells: str) -> ModelSeen:
    """Hard and easy examples, numbered; members' losses are lower, or not. Reference models know how hard each one is."""
    rng = secure()
    hard, noise = rng.normals(EXAMPLES + OWN), 0.1 * rng.normals(EXAMPLES + OWN)
    member = np.arange(EXAMPLES + OWN) < EXAMPLES // 2
    target = hard + noise - (8.0 if tells == "all" else 0.0) * member
    others = [hard + 0.1 * rng.normals(EXAMPLES + OWN) for _ in range(2)]
    return ModelSeen(
        _looked_up(target),
        range(EXAMPLES),
        range(EXAMPLES, EXAMPLES + OWN),
        references=[_looked_up(own) for own in others],
        truth=Members.first(EXAMPLES // 2, EXAMPLES - EXAMPLES // 2),
    )


def _looked_up(losses: np.ndarray) -> Losses:
    """A model as a table: the loss of each numbered example."""
    return lambda asked: losses[list(asked)]


def _memory(trained: Sequence[str], tells: str) -> Losses:
    """Losses by a hash of the text, below all others for texts that are remembered."""
    kept = set(trained) if tells == "all" else set()

    def losses(texts: Sequence[Any]) -> np.ndarray:
        return np.array([zlib.crc32(t.encode()) / 2**32 - (2.0 if t in kept else 0.0) for t in texts])

    return losses
