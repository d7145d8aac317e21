"""The public port: an ASGI app over TLS, served by a thread of this process, gone when the process is gone."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from textveil.core import BadInput

STARTED_WITHIN = 30.0  # seconds


def require_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT.

    >>> require_address("127.0.0.1:9443"), require_address("[::1]:0")
    (('127.0.0.1', 9443), ('::1', 0))
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise BadInput(f"'{address}' is no address", possible="HOST:PORT, e.g. 127.0.0.1:9443")
    return host.strip("[]"), int(port)


def written(host: str, port: int) -> str:
    """HOST:PORT.

    >>> written("::1", 9443)
    '[::1]:9443'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextmanager
def listening(app: Any, address: str, certificate: Path, key: Path) -> Iterator[str]:
    """Serve an app at HOST:PORT until the block ends; the address, with the port that was taken if 0 was asked for."""
    host, port = require_address(address)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # a traceback could quote what a site sent
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    with _bound(host, port) as taken:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, name="fleet", daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield written(host, taken.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(timeout=10)


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind, protocol)
    except OSError:
        raise BadInput(
            f"this machine has no address '{host}'", possible="--listen 0.0.0.0:PORT for all it has"
        ) from None
    with taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(place)
        except OSError as error:
            what = error.strerror or "system error"
            raise BadInput(f"cannot listen at {written(host, port)} ({what})", possible="another port, or 0") from None
        taken.listen(128)
        yield taken


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    end = time.monotonic() + STARTED_WITHIN
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise BadInput("the public port could not be opened")
        time.sleep(0.02)


__all__ = ["listening", "require_address", "written"]
