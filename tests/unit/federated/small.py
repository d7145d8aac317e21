"""Units of one or a few numbers, for exact checks: a net whose local step is told what update to make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, NetTask, RoundPlan, make_client_app
from textveil.federated import run_rounds as run
from textveil.federated.local import LocalUpdate
from textveil.federated.weights import flat_of, layout_of
from textveil.noise import seeded


class Net(nn.Module):
    """Parameters with two, one and no dimensions: five numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = nn.Parameter(torch.zeros(1, 2))
        self.row = nn.Parameter(torch.zeros(2))
        self.level = nn.Parameter(torch.zeros(()))


@dataclass(frozen=True)
class Told:
    """The update of a unit is its first example; an example that is an exception is raised."""

    name: str = "told"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        if isinstance(examples[0], Exception):
            raise examples[0]
        return LocalUpdate(np.asarray(examples[0], np.float32), 0.0)


@dataclass(frozen=True)
class Held:
    units: Any

    def __call__(self) -> Any:
        return self.units


TASK = NetTask("numbers", Net)
SIZE = 5


def grid_of(units: Sequence[Sequence[Any]], nodes: int = 2, local: Any = None) -> InProcessGrid:
    return InProcessGrid(make_client_app(ClientSetup(TASK, Held(units), local or Told())), nodes)


def federation_of(plan: RoundPlan, **more: Any) -> Federation:
    net = TASK.build()
    return Federation(plan, layout_of(net), flat_of(net), **more)


def one_round(units: Sequence[Sequence[Any]], plan: RoundPlan, seed: int = 1, **more: Any) -> Any:
    """The state after a run over units that bring their own updates."""
    return run(grid_of(units), federation_of(plan), FreeBook(seeded(seed)), **more)
