"""Run a local app until it is stopped, on a port of this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from textveil.core import BadInput


def serve_locally(app: Any, port: int, *, ready: Callable[[int], None]) -> None:
    """Serve an app on 127.0.0.1; `ready` hears the port (0 takes a free one) when pages can be opened."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            raise BadInput(f"port {port} is taken", possible="--port with another one, or 0 for a free one") from None
        listener.listen()
        ready(listener.getsockname()[1])
        config = uvicorn.Config(app, log_level="critical", access_log=False, server_header=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])


__all__ = ["serve_locally"]
