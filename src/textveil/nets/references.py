"""Reference models for audits: the same network, from fresh weights, fitted plainly to other data."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch

from ..core import BadInput
from .encoder import Encoder
from .fit import own_randomness
from .plain_fit import fit_plainly


def fitted_anew(net: Any, examples: Sequence[Any], *, epochs: int, rate: float, batch: int, seed: int) -> Any:
    """A copy of `net` whose learnt weights are drawn again and fitted to `examples`."""
    if isinstance(net, Encoder):
        raise BadInput(
            "reference models of an encoder would start from its own weights", possible="training.membership"
        )
    fresh = copy.deepcopy(net)
    with own_randomness(seed), torch.no_grad():
        for parameter in fresh.parameters():
            if parameter.requires_grad:
                reach = 1 / math.sqrt(parameter.shape[-1]) if parameter.dim() > 1 else 0.0
                parameter.uniform_(-reach, reach) if reach else parameter.zero_()
    fit_plainly(fresh, examples, epochs=epochs, batch=min(batch, len(examples)), rate=rate, seed=seed)
    return fresh
