"""TLS connections: a listener that gives each its thread, and the way to one. Bad peers never stop the listener."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput, TextveilError

from .certificates import context, role_name
from .keys import Caller, own_token, require_caller
from .wire import BrokenWire, Message, Wire

HANDSHAKE_SECONDS = 30.0
MOST_CONNECTIONS = 128
FORMAT = 1  # of the messages

Handler = Callable[[Wire, Message, Caller], None]


class Service:
    """Accepts connections of known callers; `handle` gets each with its first message."""

    def __init__(
        self, keys: Path, host: str, port: int, handle: Handler, *, most_blobs: int, log: Callable[[str], None]
    ):
        self._keys, self._handle, self._most, self._log = keys, handle, most_blobs, log
        self._context = context(keys, server=True)
        try:
            self._listener = socket.create_server((host, port), backlog=64)
        except OSError as error:
            raise BadInput(f"cannot listen on {host}:{port} ({error.strerror or 'system error'})") from None
        self._places = threading.Semaphore(MOST_CONNECTIONS)
        self._closed = False

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def start(self) -> Service:
        """Accept in the background."""
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def run(self) -> None:
        """Accept until `close`."""
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if self._closed:
                    return
                time.sleep(0.05)  # out of descriptors: others may end meanwhile
                continue
            if not self._places.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self, raw: socket.socket) -> None:
        wire: Wire | None = None
        try:
            raw.settimeout(HANDSHAKE_SECONDS)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = Wire(self._context.wrap_socket(raw, server_side=True), "the caller", most_blobs=self._most)
            first = wire.receive(seconds=HANDSHAKE_SECONDS)
            if first.said.get("format") != FORMAT:
                raise BadInput("this server speaks another version of the protocol")
            caller = require_caller(self._keys, first.said.get("token"))
            wire.peer = caller.name
            self._handle(wire, first, caller)
        except BrokenWire:
            pass
        except TextveilError as error:  # before ValueError, which bad input is too
            self._log(str(error))
            if wire is not None:
                wire.refuse(str(error))
        except (OSError, ValueError):
            pass
        except Exception as error:  # one connection's fault is not the others'
            place = traceback.extract_tb(error.__traceback__)[-1]
            self._log(f"unexpected {type(error).__name__} in {Path(place.filename).name}, line {place.lineno}")
            if wire is not None:
                wire.refuse("the server failed")
        finally:
            raw.close()
            if wire is not None:
                wire.close()
            self._places.release()


def call(
    keys: Path,
    address: str,
    role: str,
    first: dict[str, Any],
    *,
    seconds: float = HANDSHAKE_SECONDS,
    most_blobs: int = 1 << 28,
) -> Wire:
    """A connection to the server of this role, with the first message sent; who does not answer is waited for that long."""
    host, port = split_address(address)
    name = f"the {role} at {address}"
    tls = context(keys, server=False)
    try:
        raw = socket.create_connection((host, port), timeout=min(seconds, HANDSHAKE_SECONDS))
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection = tls.wrap_socket(raw, server_hostname=role_name(role))
        except BaseException:
            raw.close()
            raise
    except ssl.SSLCertVerificationError:
        raise BadInput(f"{name} shows a certificate that these keys do not trust") from None
    except OSError as error:
        raise BadInput(f"{name} cannot be reached ({error.strerror or type(error).__name__})") from None
    wire = Wire(connection, name, most_blobs=most_blobs)
    try:
        wire.send({"format": FORMAT, "token": own_token(keys), **first})
    except BaseException:
        wire.close()
        raise
    return wire


def split_address(address: str) -> tuple[str, int]:
    """Host and port.

    >>> split_address("localhost:7301")
    ('localhost', 7301)
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 <= int(port) < 65_536:
        raise BadInput(f"'{address}' is no address", possible="HOST:PORT, e.g. localhost:7301")
    return host.strip("[]"), int(port)


def say_to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


__all__ = ["FORMAT", "Service", "call", "say_to_stderr", "split_address"]
