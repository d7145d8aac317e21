"""The engine seen from its parent: start the process of a session, ask it, and end it at the deadline.

The engine lives in an environment of its own (`.venv-mpc`, `make engine`). TEXTVEIL_ENGINE names its Python; without, it is
looked for beside the environment that runs Textveil, beside the checkout, and in the folder of work. A peer that is killed
while it connects, or a dealer that stalls, would keep the engine waiting for minutes: so nobody waits for the engine longer
than the deadline, and a process that misses it is killed.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput

from .certificates import Certificate
from .wire import BrokenWire, Message, Wire

VARIABLE, FOLDER = "TEXTVEIL_ENGINE", ".venv-mpc"
MOST_BYTES = 1 << 30


class EngineFailed(BadInput):
    """The engine ended, or missed its deadline."""


@cache
def engine_python() -> str:
    """The Python that has the engine."""
    if named := os.environ.get(VARIABLE):
        if not os.access(named, os.X_OK):
            raise BadInput(f"{VARIABLE} names no program", where=Path(named))
        return os.path.abspath(named)
    if find_spec("spu") is not None:
        return sys.executable
    places = [Path(sys.prefix).parent, Path(__file__).resolve().parents[3], Path.cwd()]
    for place in places:
        if os.access(python := place / FOLDER / "bin" / "python", os.X_OK):
            return str(python.absolute())
    raise BadInput(
        f"the engine for private classification is not installed (no {FOLDER})",
        possible=f"`make engine` in a checkout, or {VARIABLE}=PYTHON of an environment with spu 0.9.5",
    )


class Engine:
    """The process of one session."""

    def __init__(self) -> None:
        python = engine_python()
        own, its = socket.socketpair()
        self._place = Path(tempfile.mkdtemp(prefix="textveil-engine-"))  # the engine leaves files where it runs
        package = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, "PYTHONPATH": package, "JAX_PLATFORMS": "cpu"}
        output = None if os.environ.get("TEXTVEIL_DEBUG") else subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                [python, "-m", "textveil.mpc.worker", str(its.fileno())],
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=self._place,
            )
        except OSError as error:
            shutil.rmtree(self._place, ignore_errors=True)
            raise BadInput(f"the engine cannot be started ({error.strerror})") from None
        finally:
            its.close()
        self._wire = Wire(own, "the engine", most_blobs=MOST_BYTES)
        self._folder: Path | None = None

    def ask(
        self, do: str, blobs: Sequence[bytes] = (), *, seconds: float, watch: Sequence[Wire] = (), **said: Any
    ) -> Message:
        """What the engine answers. EngineFailed when it does not within the deadline, or when somebody on a watched
        connection says or ends something meanwhile: nothing is to be said while the engine computes."""
        deadline = time.monotonic() + seconds
        try:
            self._wire.send({"do": do, **said}, blobs, seconds=seconds)
            self._await(deadline, watch)
            return self._wire.receive(seconds=max(0.1, deadline - time.monotonic()))
        except BrokenWire as error:
            self.end()
            raise EngineFailed(str(error)) from None

    def _await(self, deadline: float, watch: Sequence[Wire]) -> None:
        sockets = [self._wire.socket, *(wire.socket for wire in watch)]
        try:
            ready, _, _ = select.select(sockets, [], [], max(0.0, deadline - time.monotonic()))
        except (OSError, ValueError):
            raise BrokenWire("the connection ended while the engine computed") from None
        if not ready:
            raise BrokenWire("the engine did not answer in time")
        if self._wire.socket not in ready:
            peer = next(wire.peer for wire in watch if wire.socket in ready)
            raise BrokenWire(f"{peer} broke off")

    def session_folder(self, own: Certificate, peers: Sequence[bytes]) -> Path:
        """Certificates where the engine reads them, for the owner alone, until `connected`."""
        self._folder = Path(tempfile.mkdtemp(prefix="session-", dir=self._place))
        own.write(self._folder)
        (self._folder / "peers.pem").write_bytes(b"".join(peers))
        return self._folder

    def forget_folder(self) -> None:
        """Remove the certificates: the engine has read them."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def end(self) -> None:
        """Kill the process, whatever it does."""
        self._wire.close()
        self.process.kill()
        self.process.wait()
        self.forget_folder()
        shutil.rmtree(self._place, ignore_errors=True)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


def array_blobs(arrays: Mapping[str, Any]) -> tuple[list[Any], list[bytes]]:
    """Arrays as messages carry them: names with shapes, and raw numbers."""
    import numpy as np

    raw = [np.ascontiguousarray(values, dtype="<f4").tobytes() for values in arrays.values()]
    return [[name, list(values.shape)] for name, values in arrays.items()], raw


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on right now."""
    with socket.create_server((host, 0)) as probe:
        return int(probe.getsockname()[1])


def shares_of(message: Message, rank: int) -> tuple[list[Any], list[bytes]]:
    """The shares of one party out of the answer to "share", ready for "put"."""
    described, kept = [], list[bytes]()
    for name, by_party in message.said["shares"]:
        start, count = by_party[rank]
        described.append([name, [len(kept), count]])
        kept += message.blobs[start : start + count]
    return described, kept


__all__ = ["Engine", "EngineFailed", "array_blobs", "engine_python", "free_port", "shares_of"]
