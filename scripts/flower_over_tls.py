"""Run the app folder on Flower's own deployment, over TLS, with registered node keys: one to five minutes.

    python scripts/flower_over_tls.py [--folder FOLDER]

    SuperLink (certificate of `federate keys server`, --enable-supernode-auth)
    two SuperNodes (keys of `federate keys site`, registered by `flwr supernode register`)
    a third one whose key nobody registered, which must not get in
    `flwr run`, over the same TLS port, of the folder that `federate app` wrote

It ends with code 0 when the model is there, the ledger has every round, and the stranger was refused. Every process it
started is ended. `make test` leaves it out: each message starts new processes in Flower, with sleeps of three seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

BIN = Path(sys.executable).parent
WORDS = "fine kind warm cold rude late ward nurse".split()
ROUNDS = 2
INSIDE = "SuperNode ID"  # what a SuperNode prints once the SuperLink has let it in
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}


def main() -> int:
    """Set up, run, check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="where everything is kept; else a temporary folder")
    given = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return run(folder)


def run(folder: Path) -> int:
    """The whole journey in one folder."""
    began, port = time.monotonic(), free_port()
    prepare(folder, port)
    env = {**os.environ, **QUIET, "FLWR_HOME": str(folder / "flwr-home"), "PATH": f"{BIN}:{os.environ['PATH']}"}
    with processes(folder, env) as start:
        start("superlink", superlink(folder, port))
        wait_for_port(port)
        for name in ("a", "b"):
            finish(["flwr", "supernode", "register", f"keys/{name}.pub", "here"], folder, env)
            start(f"node-{name}", supernode(folder, name, port))
        start("node-stranger", supernode(folder, "stranger", port))
        finish(["flwr", "run", "app", "here", "--stream"], folder, env, most=600)
        inside = {name for name in ("a", "b", "stranger") if INSIDE in (folder / f"node-{name}.log").read_text()}
    return report(folder, inside, time.monotonic() - began)


def prepare(folder: Path, port: int) -> None:
    """Certificate, keys, data of two sites, a public model to start from, the app folder, Flower's settings."""
    textveil(folder, "federate keys server -o keys --host 127.0.0.1")
    for number, name in enumerate(("a", "b", "stranger")):
        textveil(folder, f"federate keys site -o keys --name {name}")
        rows = [{"text": " ".join(WORDS[k % 3 + number :][:4]), "label": ("bad", "good")[k % 2]} for k in range(20)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    make_start(folder / "start")
    promise = "--strategy dp-fedavg --noise 1 --delta 0.01 --allow-large-delta"
    asked = f"--task classifier --start start --rounds {ROUNDS} --count 2 --ledger sites.ledger"
    textveil(folder, f"federate app app -o model {asked} {promise}")
    home = folder / "flwr-home"
    home.mkdir()
    settings = f'address = "127.0.0.1:{port}"\nroot-certificates = "{folder}/keys/ca.pem"\n'
    (home / "config.toml").write_text(f'[superlink]\ndefault = "here"\n\n[superlink.here]\n{settings}')


def make_start(folder: Path) -> None:
    import numpy as np

    from textveil.nets.text_cnn import TextCNN
    from textveil.text.vectors import from_arrays

    vectors = from_arrays(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 8)).astype(np.float32))
    TextCNN.of(("bad", "good"), vectors, channels=4).save(folder)


def superlink(folder: Path, port: int) -> list[str]:
    options = {"certfile": "server.pem", "keyfile": "server.key", "ca-certfile": "ca.pem"}
    tls = [word for kind, name in options.items() for word in (f"--ssl-{kind}", f"keys/{name}")]
    return ["flower-superlink", *tls, "--enable-supernode-auth", "--host", "127.0.0.1", "--port", str(port)]


def supernode(folder: Path, name: str, port: int) -> list[str]:
    data = f'data="{folder}/{name}.jsonl" ledger="{folder}/{name}.ledger"'
    known = ["--root-certificates", "keys/ca.pem", "--auth-supernode-private-key", f"keys/{name}.key"]
    reached = ["--superlink", f"127.0.0.1:{port}", "--port", str(free_port()), "--max-wait-time", "60"]
    return ["flower-supernode", *known, *reached, "--node-config", data]


# ---- processes ---------------------------------------------------------------------------------------------------------


@contextmanager
def processes(folder: Path, env: dict[str, str]) -> Iterator[Callable[[str, Sequence[str]], subprocess.Popen[bytes]]]:
    """Starts commands, each in a session of its own, and ends these with all that they started."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        log = (folder / f"{name}.log").open("wb")
        started.append(
            subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        )
        return started[-1]

    try:
        yield start
    finally:
        for signalled in (signal.SIGTERM, signal.SIGKILL):
            for process in started:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signalled)
            time.sleep(2)
        for process in started:
            process.wait()


def finish(command: Sequence[str], folder: Path, env: dict[str, str], most: float = 120) -> None:
    """Run a command to its end; it must succeed."""
    done = subprocess.run(command, cwd=folder, env=env, timeout=most, capture_output=True, text=True)
    print(f"$ {shlex.join(command)}\n{done.stdout}{done.stderr}", flush=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with code {done.returncode}; see {folder}")


def textveil(folder: Path, words: str) -> None:
    finish([str(BIN / "textveil"), *words.split()], folder, dict(os.environ))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for_port(port: int, most: float = 120) -> None:
    end = time.monotonic() + most
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.5)
    raise SystemExit(f"nobody listens at port {port}")


def report(folder: Path, inside: set[str], seconds: float) -> int:
    """What came of it; 0 where all of it holds."""
    from textveil.accounting.ledger import Ledger

    model = (folder / "model" / "release.json").exists()
    rounds = len(Ledger(folder / "sites.ledger", must_exist=True).entries())
    print(
        f"model: {'yes' if model else 'no'}; rounds in the ledger: {rounds}; nodes let in: {', '.join(sorted(inside))}"
    )
    print(f"{seconds:.0f} seconds")
    return 0 if model and rounds == ROUNDS and inside == {"a", "b"} else 1


if __name__ == "__main__":
    sys.exit(main())
