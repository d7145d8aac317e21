"""The client's side of a session in which its own engine computes with the server's (trust `dealer` and `two`)."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from textveil.core.errors import TextveilError

from .certificates import make_session_certificate
from .engine import ReservedPort, shares_of
from .links import dealer_settings, join_dealer, link_up
from .pipes import LOCAL, Relay, connect_local, pump
from .service import call
from .waiting import await_readable
from .wire import Message, Wire

if TYPE_CHECKING:
    from .client import Answer, ClassifyClient

IDLE_SECONDS = 300.0


def link(client: ClassifyClient) -> None:
    """Show what this side computes, link the engines, and take the share of the weights."""
    own, here = make_session_certificate(), client.direct or LOCAL
    port = ReservedPort(here)
    client.stack.callback(port.release)
    said = {**client.agreed, "certificate": own.certificate.decode("ascii")}
    go = client.wire.ask({**said, "host": f"{here}:{port.number}" if client.direct else None}, seconds=client.seconds)
    theirs, watch = go.said.get("host"), [client.wire]
    if not isinstance(theirs, str):
        here, theirs = LOCAL, f"{LOCAL}:{_open_pipes(client, port.number).port}"
    folder = client.engine.session_folder(own, [str(go.said.get("certificate", "")).encode()])
    config = client.trust.config()
    if client.trust.name == "dealer":
        assert client.dealer is not None
        dealer = join_dealer(client.keys, client.dealer, str(client.offer["session"]), own, client.seconds)
        client.stack.callback(dealer.close)
        await_readable(dealer, seconds=client.seconds, watch=watch)
        config |= dealer_settings(dealer.receive(seconds=client.seconds), client.dealer, folder)
        watch.append(dealer)
    link_up(
        client.engine,
        session=str(client.offer["session"]),
        rank=1,
        hosts=[theirs, f"{here}:{port.number}"],
        folder=folder,
        config=config,
        seconds=client.seconds,
        watch=watch,
        tell=watch[:1],
    )
    port.release()
    client.watch = watch
    weights = client.wire.receive(seconds=client.seconds)
    client.engine.ask("put", weights.blobs, seconds=client.seconds, shares=weights.said["weights"])
    client.engine.ask("run", seconds=client.seconds, watch=watch, tell=watch[:1], program="weights")
    client.engine.forget_folder()


def _open_pipes(client: ClassifyClient, port: int) -> Relay:
    """Pipes through this side's own connections; where the engine finds the server's."""
    pipe = {"do": "pipe", "session": client.offer.get("session"), "secret": client.offer.get("secret")}

    def opened(kind: str) -> Wire:
        return call(client.keys, client.server, "server", {**pipe, "kind": kind})

    def forward(connection: socket.socket) -> None:
        pump(opened("engine"), connection)

    def keep_spare() -> None:
        """Hold a connection ready for the server's engine; when it is used, another one takes its place."""
        while not client.ended.wait(0.05):
            with suppress(OSError, TextveilError), closing(opened("spare")) as wire:
                if _is_called_for(wire, client.ended):
                    threading.Thread(target=keep_spare, daemon=True).start()
                    pump(wire, connect_local(port, client.seconds, client.ended.is_set))
                    return

    threading.Thread(target=keep_spare, daemon=True).start()
    relay = Relay(forward)
    client.stack.callback(relay.close)
    return relay


def _is_called_for(wire: Wire, ended: threading.Event) -> bool:
    """Wait until the server uses a spare connection, or until the session is over."""
    while not ended.is_set():
        if wire.is_readable(0.5):
            wire.receive(seconds=IDLE_SECONDS)
            return True
    return False


def ask(client: ClassifyClient, rows: int, shares: Message) -> list[Answer]:
    """Give the server its share, compute together, and join its share of the answers with the own one."""
    theirs, their_blobs = shares_of(shares, 0)
    mine, my_blobs = shares_of(shares, 1)
    client.engine.ask("put", my_blobs, seconds=client.seconds, shares=mine)
    client.wire.ask({"do": "run", "rows": rows, "shares": theirs}, their_blobs, seconds=client.seconds)
    own = client.engine.ask(
        "run", seconds=client.seconds, watch=client.watch, tell=[client.wire], program=f"run {rows}"
    )
    return client.joined([client.wire.receive(seconds=client.seconds), own])


__all__ = ["ask", "link"]
