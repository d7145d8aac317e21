"""The server's side of a federation, so it is itself imported late: who is there, and a grid to speak with them.

    with open_fleet(FleetSettings(...)) as fleet:     the public port is open, registered sites may come
        fleet.wait_for(3)                             ...
        run_rounds(fleet.grid, ...)                   any loop on a Flower grid
        fleet.dismiss()                               sites hear that it is over, and end

One process, no child: killing it leaves nothing behind, and whoever starts it again with the same keys finds its sites
coming back, since a site's number is made from its key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flwr.app import Message, RecordDict

from textveil.core import BadInput

from .certificates import check_server_files
from .flower import FLEET_CALLS, HEADERS, FleetGrid, Link
from .gate import Gate
from .keys import read_public_keys
from .listener import listening
from .logs import log_to

OVER = "query.over"  # the last message to a site


@dataclass(frozen=True)
class FleetSettings:
    """Where the server listens, how it shows who it is, and whom it knows."""

    listen: str
    certificate: Path
    key: Path
    sites: Path  # a folder of public keys
    log: Path | None = None
    bundle: bytes = b""
    config: Mapping[str, Any] = field(default_factory=dict)


class Fleet:
    """Registered sites, those that are connected, and the grid."""

    def __init__(self, link: Link, grid: FleetGrid, address: str):
        self._link, self.grid, self.address = link, grid, address
        self.names = link.names

    def present(self) -> list[str]:
        """The names of the sites that are connected now."""
        return sorted(self.names[node] for node in self.grid.get_node_ids())

    def wait_for(self, count: int, patience: float, *, heard: Callable[[list[str]], None] = lambda names: None) -> None:
        """Wait until `count` sites are there; `heard` is told whenever somebody comes or goes."""
        end, before = time.monotonic() + patience, None
        while True:
            names = self.present()
            if names != before:
                heard(names)
                before = names
            if len(names) >= count:
                return
            if time.monotonic() > end:
                raise BadInput(
                    f"{len(names)} of {count} sites came within {patience:g} seconds",
                    possible="--sites with fewer, or --wait with more seconds",
                )
            time.sleep(0.2)

    def dismiss(self, patience: float = 20.0) -> None:
        """Tell every site that it is over; those that do not hear it find out by themselves."""
        messages = [Message(RecordDict(), node, OVER, ttl=patience) for node in self.grid.get_node_ids()]
        self.grid.send_and_receive(messages, timeout=patience)
        self._link.end(self.grid)


@contextmanager
def open_fleet(settings: FleetSettings) -> Iterator[Fleet]:
    """Open the public port for the registered sites, with a run that their messages belong to."""
    check_server_files(settings.certificate, settings.key)
    sites = read_public_keys(settings.sites)
    log_to(settings.log)
    link = Link(sites)
    gate = Gate(link.app, FLEET_CALLS, HEADERS, {key: name for name, key in sites.items()})
    grid = link.begin(settings.bundle, "textveil/federated", settings.config, gate)
    with listening(gate, settings.listen, settings.certificate, settings.key) as address:
        yield Fleet(link, grid, address)


__all__ = ["OVER", "Fleet", "FleetSettings", "open_fleet"]
