"""All parties on this machine, for measurements: the control channels in this process, every engine in its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from textveil.mpc.client import ClassifyClient
from textveil.mpc.dealer import Dealer
from textveil.mpc.keys import NODES, make_keys
from textveil.mpc.model_folder import Classifier
from textveil.mpc.node import Node
from textveil.mpc.server import ClassifyServer, Limits

HOST = "127.0.0.1"
SECONDS = 900.0


def _silent(line: str) -> None:
    """Keep no log."""


@contextmanager
def local_parties(classifier: Classifier, trust: str, *, direct: bool = True) -> Iterator[LocalParties]:
    """A server for a classifier, and whoever else its trust needs; engines link directly, with TLS."""
    with ExitStack() as stack:
        keys = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "keys"
        make_keys(keys)
        others: dict[str, Any] = {}
        services, dealer = [], None
        if trust == "dealer":
            dealer = Dealer(keys / "dealer", HOST, log=_silent)
            services.append(dealer.service)
            others = {"dealer": f"{HOST}:{dealer.service.port}"}
        elif trust == "three":
            nodes = [Node(keys / name, rank, HOST, seconds=SECONDS, log=_silent) for rank, name in enumerate(NODES)]
            services += [node.service for node in nodes]
            others = {"nodes": tuple(f"{HOST}:{node.service.port}" for node in nodes)}
        limits = Limits(seconds=SECONDS, score=True)
        given = {**others, "direct": HOST if direct else None}
        server = ClassifyServer(keys / "server", classifier, trust, limits=limits, log=_silent, **given)
        services.append(server.service)
        for service in services:
            service.start()
            stack.callback(service.close)

        def connect(rows: list[int], answer: str = "label") -> ClassifyClient:
            address = f"{HOST}:{server.service.port}"
            more = {**given, "seconds": SECONDS}
            return ClassifyClient(keys / "client", address, trust, rows=rows, answer=answer, **more)

        yield LocalParties(connect, server, dealer)


class LocalParties:
    """What a measurement needs: `connect(rows, answer)` opens a session."""

    def __init__(self, connect: Callable[..., ClassifyClient], server: ClassifyServer, dealer: Dealer | None):
        self.connect, self._server, self._dealer = connect, server, dealer

    def dealt(self) -> tuple[int, int]:
        """Calls of the dealer, and bytes in both directions."""
        if self._dealer is None:
            return 0, 0
        sessions = [p.dealing for p in self._dealer._pairings.values() if p.dealing is not None]
        return sum(s.calls for s in sessions), sum(s.bytes_in + s.bytes_out for s in sessions)


__all__ = ["LocalParties", "local_parties"]
