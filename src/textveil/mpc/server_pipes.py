"""The server's ends of pipes (see `pipes`): spare connections that wait for the engine, and ways to the engine."""

from __future__ import annotations

import hmac
import socket
import threading
from dataclasses import dataclass, field
from typing import Any

from textveil.core.errors import Refused

from .keys import Caller
from .pipes import Relay, connect_local, pump
from .wire import Message, Wire

WAIT_SECONDS = 120.0


@dataclass(frozen=True)
class Spare:
    """A connection of the client that waits to be used."""

    wire: Wire
    done: threading.Event = field(default_factory=threading.Event)


def serve_pipe(sessions: dict[str, Any], wire: Wire, first: Message, caller: Caller) -> None:
    """Use a further connection of a session's client until it ends."""
    session = sessions.get(str(first.said.get("session")))
    is_its_own = session is not None and session.caller == caller
    if not is_its_own or not hmac.compare_digest(session.secret, str(first.said.get("secret"))):
        raise Refused("there is no such session")
    if first.said.get("kind") == "spare":
        spare = Spare(wire)
        session.spares.put(spare)
        while not spare.done.wait(1.0) and not session.ended.is_set():
            pass
    else:
        pump(wire, connect_local(session.engine_port, WAIT_SECONDS, session.ended.is_set))


def relay_to_client(session: Any) -> Relay:
    """Where the server's engine finds the client's."""

    def forward(connection: socket.socket) -> None:
        spare: Spare = session.spares.get(timeout=WAIT_SECONDS)
        try:
            spare.wire.send({"go": True})
            pump(spare.wire, connection)
        finally:
            spare.done.set()

    return Relay(forward)


__all__ = ["Spare", "relay_to_client", "serve_pipe"]
