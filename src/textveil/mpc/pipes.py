"""Links through the client's own outgoing connections, for a client that nobody can connect to.

Each engine believes that its peer listens on its own machine:

    Alice's engine -> relay at Alice -> a spare connection that Bob had opened -> Bob's engine
    Bob's engine   -> relay at Bob   -> a new connection to Alice              -> Alice's engine

Relays carry bytes that the engines have encrypted for each other (TLS with the session's certificates), once more inside the
outer TLS. One thread serves both directions of a pipe, since one TLS connection must not be used by two threads at once.
"""

from __future__ import annotations

import contextlib
import queue
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

from .wire import BrokenWire, Wire

CHUNK = 1 << 16
MOST_WAITING = 1 << 22
LOCAL = "127.0.0.1"


class Relay:
    """A local listener; every connection to it goes to `forward` in a thread of its own."""

    def __init__(self, forward: Callable[[socket.socket], None]):
        self._listener, self._forward = socket.create_server((LOCAL, 0), backlog=16), forward
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError, BrokenWire, queue.Empty):
            self._forward(connection)
        connection.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def connect_local(port: int, seconds: float, is_over: Callable[[], bool] = lambda: False) -> socket.socket:
    """A connection to the own engine, as soon as it listens: the peer's may well be ready first."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((LOCAL, port), timeout=seconds)
        except OSError:
            if is_over() or time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def pump(outer: Wire, inner: socket.socket) -> None:
    """Carry bytes both ways until one side ends."""
    ends: list[Any] = [outer.socket, inner]
    waiting = {0: bytearray(), 1: bytearray()}  # what still has to go to each end
    try:
        for end in ends:
            end.setblocking(False)
        inner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not _take(ends[0], waiting[1]):  # TLS may hold bytes already that the system no longer tells of
            return
        while True:
            reading = [ends[i] for i in (0, 1) if len(waiting[1 - i]) < MOST_WAITING]
            writing = [ends[i] for i in (0, 1) if waiting[i]]
            ready, writable, _ = select.select(reading, writing, [])
            for i in (0, 1):
                if ends[i] in ready and not _take(ends[i], waiting[1 - i]):
                    return
            for i in (0, 1):
                if waiting[i] and (ends[i] in writable or ends[1 - i] in ready):
                    _give(ends[i], waiting[i])
    except (OSError, ValueError):
        return
    finally:
        outer.close()
        inner.close()


def _take(end: Any, waiting: bytearray) -> bool:
    """Read what is there; False at the end of the stream."""
    while True:
        try:
            piece = end.recv(CHUNK)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            return True
        if not piece:
            return False
        waiting += piece
        if not isinstance(end, ssl.SSLSocket) or (not end.pending() and len(waiting) >= MOST_WAITING):
            return True


def _give(end: Any, waiting: bytearray) -> None:
    with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
        while waiting:
            sent = end.send(memoryview(waiting)[:CHUNK].tobytes())
            del waiting[:sent]


__all__ = ["LOCAL", "Relay", "connect_local", "pump"]
