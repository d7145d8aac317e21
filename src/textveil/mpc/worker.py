"""The engine's process: one for each session, in the environment that has spu. It obeys its parent over one socket.

    compile      programs of the public shape: their hashes
    connect      links to the other parties (TLS, pinned certificates) and a runtime
    share        arrays of the owner -> shares, one set a party
    put          shares become variables
    run          execute a program and give the shares of what it returns
    join         shares of all parties -> values
    used         CPU seconds, peak memory

Only the parent's socket is read, and messages hold JSON and raw bytes. The process ends with its parent. Whatever goes wrong
inside becomes a fixed sentence: the engine's own messages may hold values.

    python -m textveil.mpc.worker FD
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import traceback
from typing import Any

import numpy as np

from textveil.core.errors import TextveilError

from .networks import NetworkShape
from .programs import CACHED, INPUT, UNUSED, compile_programs, outputs, program_hash
from .wire import BrokenWire, Wire

FOREVER = 10.0**8
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG
MOST_BYTES = 1 << 30
PROFILE = "TEXTVEIL_ENGINE_PROFILE"  # a folder: the engine writes there what it counts of its links (bench/mpc.py)


class EngineWorker:
    """What one session's process holds."""

    def __init__(self) -> None:
        self.programs: dict[str, Any] = {}
        self.runtime: Any = None
        self.link: Any = None
        self.config: Any = None
        self.parties = 2
        self.answer = "label"

    def answer_to(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """What the parent gets back."""
        return getattr(self, f"do_{said['do']}")(said, blobs)

    def do_compile(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        shape = NetworkShape.from_json(said["shape"])
        self.answer, self.parties = said["answer"], said["parties"]
        self.programs = compile_programs(shape, said["rows"], self.answer)
        self._configure(said["config"])
        import spu

        return {"programs": {n: program_hash(p) for n, p in self.programs.items()}, "engine": spu.__version__}, []

    def do_connect(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        import spu
        from spu import libspu

        self._configure(said["config"])
        desc = libspu.link.Desc()
        desc.id = said["session"]
        desc.recv_timeout_ms = said["receive_ms"]
        desc.http_timeout_ms = said["receive_ms"]
        desc.connect_retry_times = said["retries"]
        desc.connect_retry_interval_ms = 200
        for number, host in enumerate(said["hosts"]):
            desc.add_party(f"party{number}", host)
        folder = said["folder"]
        desc.enable_ssl = bool(said.get("tls", True))  # False only to read along on one machine (recipes/mpc/views.py)
        for options in (desc.server_ssl_opts, desc.client_ssl_opts):
            options.cert.certificate_path, options.cert.private_key_path = f"{folder}/cert.pem", f"{folder}/key.pem"
            options.verify.ca_file_path, options.verify.verify_depth = f"{folder}/peers.pem", 1
        self.link = libspu.link.create_brpc(desc, said["rank"])
        self.runtime = spu.Runtime(self.link, self.config)
        return {"connected": True}, []

    def do_share(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        import spu
        from spu import libspu

        maker = spu.Io(self.parties, self.config)
        described, kept = [], list[bytes]()
        for (name, dims), raw in zip(said["arrays"], blobs, strict=True):
            values = np.frombuffer(raw, dtype="<f4").reshape(dims)
            shares = [_described(s, kept) for s in maker.make_shares(values, libspu.Visibility.VIS_SECRET)]
            described.append([name, shares])
        return {"shares": described}, kept

    def do_put(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        left = list(blobs)
        for name, counts in said["shares"]:
            self.runtime.set_var(name, _share(counts, left))
        return {"put": True}, []

    def do_run(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        name = said["program"]
        self.runtime.run(self.programs[name])
        if name == "weights":
            for variable in [*self.programs[name].input_names, *self.programs[name].output_names]:
                if variable.startswith(UNUSED) or f"{CACHED}{variable}" in self.programs[name].output_names:
                    self.runtime.del_var(variable)
            return {"shares": []}, []
        kept = list[bytes]()
        shares = [[n, _described(self.runtime.get_var(n), kept)] for n in outputs(self.answer)]
        for variable in (INPUT, *outputs(self.answer)):
            self.runtime.del_var(variable)
        return {"shares": shares}, kept

    def do_join(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        import spu

        maker, left, values = spu.Io(self.parties, self.config), list(blobs), []
        for name in said["names"]:
            shares = [_share(counts, left) for counts in said["shares"][name]]
            values.append([name, np.asarray(maker.reconstruct(shares), dtype=np.float64).tolist()])
        return {"values": values}, []

    def do_used(self, said: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024}, []

    def _configure(self, settings: dict[str, Any]) -> None:
        from spu import libspu

        self.config = libspu.RuntimeConfig()
        self.config.ParseFromJsonString(json.dumps(settings))
        self.config.enable_pphlo_profile = PROFILE in os.environ


def _described(share: Any, kept: list[bytes]) -> list[int]:
    """Put the bytes of a share to the blobs; how many there are, for `_share`."""
    chunks = [bytes(share.meta), *(bytes(chunk) for chunk in share.share_chunks)]
    kept.extend(chunks)
    return [len(kept) - len(chunks), len(chunks)]


def _share(counts: list[int], blobs: list[bytes]) -> Any:
    from spu import libspu

    start, count = counts
    share = libspu.Share()
    share.meta, share.share_chunks = blobs[start], blobs[start + 1 : start + count]
    return share


def _write_profile() -> None:
    """Let what the engine prints go to a file of this process, where somebody wants to read it."""
    if folder := os.environ.get(PROFILE):
        log = os.open(os.path.join(folder, f"{os.getpid()}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)


def main(descriptor: int) -> None:
    """Obey until the parent closes its end."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _write_profile()
    wire = Wire(socket.socket(fileno=descriptor), "the parent", most_blobs=MOST_BYTES)
    worker = EngineWorker()
    while True:
        try:
            said, blobs = wire.receive(seconds=FOREVER)
        except (BrokenWire, TextveilError):
            os._exit(0)
        try:
            reply, kept = worker.answer_to(said, blobs)
        except TextveilError as error:
            reply, kept = {"error": str(error)}, []
        except BaseException as error:
            if os.environ.get("TEXTVEIL_DEBUG"):
                traceback.print_exc()
            reply, kept = {"error": f"the engine failed to {said.get('do')} ({type(error).__name__})"}, []
        wire.send(reply, kept, seconds=FOREVER)


if __name__ == "__main__":
    main(int(sys.argv[1]))


__all__ = ["CACHED", "EngineWorker", "main"]
