"""The real commands of private classification as processes on this machine, for bench/mpc_faults.py."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textveil.mpc.engine import ReservedPort
from textveil.mpc.inputs import Inputs
from textveil.mpc.keys import make_keys
from textveil.mpc.model_folder import Classifier, save_classifier
from textveil.mpc.service import call
from textveil.mpc.train import shape_of

TEXTS = 4
WORKER = "textveil.mpc.worker"


class Party:
    """One command that serves until it is stopped."""

    def __init__(self, *command: str):
        self._command, self.lines = command, list[str]()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it says that it is ready."""
        whole = [sys.executable, "-m", "textveil", "classify", *self._command]
        self.process = subprocess.Popen(whole, stderr=subprocess.PIPE, text=True)
        ready = threading.Event()
        threading.Thread(target=self._read, args=(self.process, ready), daemon=True).start()
        if not ready.wait(120):
            raise RuntimeError(f"{self._command[0]} did not start: {self.lines[-1:]}")

    def _read(self, process: subprocess.Popen[str], ready: threading.Event) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                self.lines.append(line.rstrip())
                if " on 127.0.0.1:" in line:
                    ready.set()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Outcome:
    """How one `classify ask` ended."""

    code: int
    labels: list[str]
    sentence: str
    seconds: float

    @property
    def is_whole(self) -> bool:
        return self.code == 0 and len(self.labels) == TEXTS

    @property
    def is_one_sentence(self) -> bool:
        is_told = self.sentence.startswith("textveil: ") and "Traceback" not in self.sentence
        return self.code in (1, 2) and not self.labels and is_told  # 1: refused by the peer


class Parties:
    """A dealer, a server, and clients that ask for the labels of a few texts."""

    def __init__(self, folder: Path, timeout: float):
        self.folder, self.timeout, self.keys = folder, timeout, folder / "keys"
        ports = [ReservedPort(), ReservedPort()]  # a party that is started again keeps its port
        self.server_address, self.dealer_address = (f"127.0.0.1:{port.number}" for port in ports)
        for port in ports:
            port.release()
        make_keys(self.keys)
        inputs, rng = Inputs("words"), np.random.default_rng(1)
        shape = shape_of("wide", inputs.facts.length)
        arrays = {n: rng.normal(size=d).astype(np.float32) * 0.1 for n, d in shape.arrays().items()}
        save_classifier(Classifier(shape, arrays, ("no", "yes"), inputs.facts.to_json()), folder / "model")
        (folder / "texts.txt").write_text("a wonderful day\nan awful day\nthe parcel was late\nit works well\n")
        self.dealer = Party("dealer", "--keys", f"{self.keys}/dealer", "--listen", self.dealer_address)
        self.server = Party(
            "serve", f"{folder}/model", "--keys", f"{self.keys}/server", "--listen", self.server_address, "--dealer",
            self.dealer_address, "--budget", "1000000", "--rate", "1000000", "--timeout", str(timeout),
        )  # fmt: skip

    def ask(self) -> subprocess.Popen[str]:
        """A client's process."""
        command = ["ask", f"{self.folder}/texts.txt", "--keys", f"{self.keys}/client", "--server", self.server_address,
                   "--dealer", self.dealer_address, "--batch", "1", "--timeout", str(self.timeout)]  # fmt: skip
        whole = [sys.executable, "-m", "textveil", "classify", *command]
        return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def is_serving(self) -> bool:
        """Whether the server still answers."""
        wire = call(self.keys / "client", self.server_address, "server", {"do": "facts"})
        try:
            return "labels" in wire.receive(seconds=30.0).said
        finally:
            wire.close()

    def close(self) -> None:
        self.server.end()
        self.dealer.end()


def outcome(client: subprocess.Popen[str], began: float, most: float) -> Outcome:
    """Wait for a client; -1 as its code if it does not end within `most` seconds."""
    try:
        out, said = client.communicate(timeout=most)
        code = client.returncode
    except subprocess.TimeoutExpired:
        client.kill()
        out, said = client.communicate()
        code = -1
    return Outcome(code, out.split(), (said.strip().splitlines() or [""])[-1], time.monotonic() - began)


def engines(process: int) -> list[int]:
    """The engines that a process started and that run."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in path.read_text().split():
                if WORKER in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(int(child))
        except OSError:
            continue
    return found


def wait_until(is_so: object, seconds: float) -> bool:
    """Whether it becomes so within so long."""
    assert callable(is_so)
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
