"""The ServerApp and the ClientApp of the app folder, so it is itself imported late: by Flower's own processes.

The settings are those that `federate app` wrote: the fields of `GridJob` and of `StrategyChoice`, as TOML writes them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from textveil.core import BadInput
from textveil.recipes.federated.on_grid import GridJob, train_on_grid
from textveil.recipes.federated.site_app import make_site_app
from textveil.recipes.federated.strategies import StrategyChoice
from textveil.recipes.progress import no_bar

client_app = make_site_app()
server_app = ServerApp()

_PATHS = ("out", "start", "test", "ledger")
_LISTS = ("labels", "frozen")
_ASKED = {f.name for f in fields(StrategyChoice)}
_GRID = {f.name for f in fields(GridJob)} - {"asked", "model"}


@dataclass(frozen=True)
class GridSites:
    """The sites of a SuperLink."""

    grid: Grid
    names: Mapping[int, str]
    keys: Mapping[str, bytes] = field(default_factory=dict)

    def dismiss(self) -> None:
        """SuperNodes go on without us."""


@server_app.main()
def main(grid: Grid, context: Context) -> None:
    """Train with the SuperNodes that are connected."""
    job, wanted, wait = read_config(context.run_config)
    sites = find_sites(grid, wanted, wait)

    @contextmanager
    def opened() -> Iterator[GridSites]:
        yield sites

    train_on_grid(job, sites.keys, opened, bar=no_bar, say=lambda line: print(line, flush=True))


def read_config(config: Mapping[str, Any]) -> tuple[GridJob, int, float]:
    """The job of a run's settings, how many sites it waits for, and how long."""
    values = {name.replace("-", "_"): value for name, value in config.items() if value != ""}
    model = {name.removeprefix("model."): value for name, value in values.items() if name.startswith("model.")}
    for name in _PATHS:
        if name in values:
            values[name] = Path(str(values[name]))
    for name in _LISTS:
        if name in values:
            values[name] = tuple(str(values[name]).split(","))
    if "out" not in values or "task" not in values:
        raise BadInput("the settings name no task, or no folder for the model", possible="out and task")
    asked = StrategyChoice(**{name: value for name, value in values.items() if name in _ASKED})
    job = GridJob(asked=asked, model=model, **{name: value for name, value in values.items() if name in _GRID})
    return job, int(values.get("count", 2)), float(values.get("wait", 600.0))


def find_sites(grid: Grid, wanted: int, wait: float) -> GridSites:
    """The connected SuperNodes, by name and key, once there are enough."""
    end = time.monotonic() + wait
    while len(nodes := list(grid.get_nodes())) < wanted:  # type: ignore[attr-defined]
        if time.monotonic() > end:
            raise BadInput(f"{len(nodes)} of {wanted} sites came within {wait:g} seconds")
        time.sleep(1)
    nodes = sorted(nodes, key=lambda node: bytes(node.public_key))
    names = {int(node.node_id): node.name or f"site {k + 1}" for k, node in enumerate(nodes)}
    return GridSites(grid, names, {names[int(node.node_id)]: bytes(node.public_key) for node in nodes})
