"""The dealer's server: both parties of a session join it, and it deals until either of them leaves.

Each session has its own key, book, certificate and port (`dealer_http`). The dealer sees neither texts nor weights nor the
parties' messages: it knows their random seeds, and would read everything if one of the two gave it what it received.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from textveil.core.errors import BadInput, Refused

from .dealer_http import DealerSession
from .keys import SERVER, Caller
from .service import Service, say_to_stderr
from .wire import BrokenWire, Message, Wire

JOIN_SECONDS = 120.0
MOST_SESSIONS = 64
SESSION_SECONDS = 24 * 3600.0


class Pairing:
    """A session of which one or both parties are here."""

    def __init__(self) -> None:
        self.dealing: DealerSession | None = None
        self.joined: dict[int, str] = {}
        self.complete, self.ended = threading.Event(), threading.Event()


class Dealer:
    """Keeps the sessions of a dealer's process."""

    def __init__(
        self, keys: Path, host: str = "127.0.0.1", port: int = 0, *, log: Callable[[str], None] = say_to_stderr
    ):
        self._host, self._log = host, log
        self._pairings: dict[str, Pairing] = {}
        self._lock = threading.Lock()
        self.service = Service(keys, host, port, self._handle, most_blobs=0, log=log)

    def _handle(self, wire: Wire, first: Message, caller: Caller) -> None:
        session, rank, pairing = self._joined(first, caller)
        try:
            if not pairing.complete.wait(JOIN_SECONDS):
                raise Refused("the other party did not come to the dealer in time")
            assert pairing.dealing is not None
            dealing = pairing.dealing
            certificate = dealing.certificate.certificate.decode("ascii")
            key = dealing.key.public_pem().decode("ascii")
            wire.send({"key": key, "port": str(dealing.port), "certificate": certificate})
            self._until_end(wire, pairing)
            if rank == 0:
                wire.refuse("the session at the dealer has ended")
        finally:
            self._end(session, pairing)

    def _joined(self, first: Message, caller: Caller) -> tuple[str, int, Pairing]:
        session, rank = first.said.get("session"), 0 if caller.role == SERVER else 1
        if first.said.get("do") != "join" or not isinstance(session, str) or len(session) != 32:
            raise BadInput("the dealer takes parties of a session only")
        certificate = str(first.said.get("certificate", "")).encode()
        dealing = DealerSession(self._host, 0, certificate) if rank == 0 else None
        with self._lock:
            if session not in self._pairings and len(self._pairings) >= MOST_SESSIONS:
                raise Refused("the dealer has too many sessions; try again later")
            pairing = self._pairings.setdefault(session, Pairing())
            if rank in pairing.joined or pairing.ended.is_set():
                raise Refused("somebody else is in this session already")
            if rank == 0:
                pairing.dealing = dealing
            pairing.joined[rank] = caller.name
            if len(pairing.joined) == 2:
                pairing.complete.set()
        return session, rank, pairing

    def _until_end(self, wire: Wire, pairing: Pairing) -> None:
        """Wait until this party leaves (whatever it says) or the other one has."""
        deadline = time.monotonic() + SESSION_SECONDS
        while not pairing.ended.is_set() and time.monotonic() < deadline:
            if wire.is_readable(0.5):
                return

    def _end(self, session: str, pairing: Pairing) -> None:
        pairing.ended.set()
        pairing.complete.set()
        with self._lock:
            self._pairings.pop(session, None)
        if pairing.dealing is not None:
            pairing.dealing.close()
            if pairing.dealing.calls:
                self._log(f"session over: {pairing.dealing.calls:,} calls, {pairing.dealing.bytes_out:,} bytes dealt")
                pairing.dealing.calls = 0


__all__ = ["BrokenWire", "Dealer"]
