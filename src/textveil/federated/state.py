"""What a run keeps between rounds, and the file it is stored in. No state of any generator is ever stored."""

from __future__ import annotations

import io
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.core.files import sync_folder

from .weights import Flat

FORM = 1


@dataclass
class RoundState:
    """Where a run is: rounds done, the weights after them, and what the next round builds on."""

    round: int
    weights: Flat
    clip: float | None = None
    memory: dict[str, Any] = field(default_factory=dict)  # of the server's step
    tree: dict[str, Any] = field(default_factory=dict)  # DP-FTRL: see `tree`
    history: list[dict[str, Any]] = field(default_factory=list)  # a line a round, public facts only
    refused: dict[str, int] = field(default_factory=dict)  # "name: code" -> how often


def save_state(path: Path, state: RoundState) -> None:
    """Replace the file in one move, synced, for its owner only."""
    import torch

    part = path.with_name(f".{path.name}.part")
    with open(part, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        torch.save({"form": FORM, **_tensors(asdict(state))}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    sync_folder(path.parent)


def load_state(path: Path) -> RoundState:
    """The state of a file that `save_state` wrote."""
    import torch

    try:
        held = torch.load(io.BytesIO(path.read_bytes()), weights_only=True)
        if held.pop("form") != FORM:
            raise ValueError
        return RoundState(**_arrays(held))
    except Exception:
        raise BadInput("is not the state of a federated run of this version", where=path) from None


def _tensors(value: Any) -> Any:
    """Arrays as tensors, which torch loads without running code."""
    import torch

    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(value))
    if isinstance(value, dict):
        return {key: _tensors(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tensors(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _arrays(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {key: _arrays(item) for key, item in value.items()}
    return [_arrays(item) for item in value] if isinstance(value, list) else value
