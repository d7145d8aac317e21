"""`federate serve`: the server of a federation, in one process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core.params import needs
from textveil.recipes.federated.app_folder import write_app_folder
from textveil.recipes.federated.on_grid import GridJob, Sites, train_on_grid
from textveil.recipes.progress import Bar


@dataclass(frozen=True)
class ServeJob:
    """Where the server listens, whom it knows, and what is trained."""

    grid: GridJob
    listen: str
    certificate: Path
    key: Path
    sites: Path
    count: int | None = None  # sites to wait for; None: all that are registered
    wait: float = 600.0
    log: Path | None = None


def serve(
    job: ServeJob,
    *,
    bar: Bar,
    ready: Callable[[str, list[str]], None],
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Train with sites that join; `ready` hears the address, and the names that are registered."""
    needs("federated", "flwr", "torch")
    from textveil.federated.deployment.fleet import FleetSettings, open_fleet
    from textveil.federated.deployment.flower import build_bundle
    from textveil.federated.deployment.keys import read_public_keys

    keys = read_public_keys(job.sites)

    @contextmanager
    def sites() -> Iterator[Sites]:
        with tempfile.TemporaryDirectory() as folder:
            bundle = build_bundle(write_app_folder(Path(folder) / "app", {}))
        settings = FleetSettings(job.listen, job.certificate, job.key, job.sites, job.log, bundle)
        with open_fleet(settings) as fleet:
            ready(fleet.address, sorted(keys))
            fleet.wait_for(job.count or len(keys), job.wait, heard=lambda names: say(_present(names, len(keys))))
            yield fleet

    return train_on_grid(job.grid, keys, sites, bar=bar, say=say)


def _present(names: list[str], registered: int) -> str:
    return f"{len(names)} of {registered} sites are here" + (f": {', '.join(names)}" if names else "")


__all__ = ["ServeJob", "serve"]
