"""The engine seen from its parent: start the process of a session, ask it, and end it at the deadline.

The engine lives in an environment of its own (`.venv-mpc`, `make engine`). TEXTVEIL_ENGINE names its Python; without, it is
looked for beside the environment that runs Textveil, beside the checkout, and in the folder of work. A peer that is killed
while it connects, or a dealer that stalls, would keep the engine waiting for minutes: so nobody waits for the engine longer
than the deadline (counted from the last sign of life, see `waiting`), and a process that misses it is killed.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput

from .certificates import Certificate
from .waiting import Pulse, await_readable
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
        self,
        do: str,
        blobs: Sequence[bytes] = (),
        *,
        seconds: float,
        watch: Sequence[Wire] = (),
        tell: Sequence[Wire] = (),
        **said: Any,
    ) -> Message:
        """What the engine answers. EngineFailed when it shows no sign of life for so long, or when a watched connection
        ends meanwhile; `tell` are those who wait for this and are told that it goes on."""
        try:
            self._wire.send({"do": do, **said}, blobs, seconds=seconds)
            pulse = Pulse(self.process.pid, seconds)
            await_readable(self._wire, seconds=seconds, watch=watch, tell=tell, pulse=pulse)
            return self._wire.receive(seconds=seconds)
        except BrokenWire as error:
            self.end()
            raise EngineFailed(str(error)) from None

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


class ReservedPort:
    """A port that nobody else is given until the engine listens on it.

    The socket is bound and does not listen: the system hands its port to no other process, and lets the engine, which like
    this one asks for SO_REUSEADDR, listen on it.
    """

    def __init__(self, host: str = "127.0.0.1"):
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((host, 0))
        self.number = int(self._socket.getsockname()[1])

    def release(self) -> None:
        self._socket.close()


def shares_of(message: Message, rank: int) -> tuple[list[Any], list[bytes]]:
    """The shares of one party out of the answer to "share", ready for "put"."""
    described, kept = [], list[bytes]()
    for name, by_party in message.said["shares"]:
        start, count = by_party[rank]
        described.append([name, [len(kept), count]])
        kept += message.blobs[start : start + count]
    return described, kept


__all__ = ["Engine", "EngineFailed", "ReservedPort", "array_blobs", "engine_python", "shares_of"]
