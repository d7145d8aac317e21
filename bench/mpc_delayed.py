"""Parties in network namespaces with a delay between them, for bench/mpc.py: the real commands, one namespace each."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from mpc_net import Network, NotPermitted

from textveil.mpc.client import ClassifyClient
from textveil.mpc.keys import make_keys
from textveil.mpc.model_folder import Classifier, save_classifier

TEXTS, BATCH, PORT = 5, 100, 7300
OTHERS = {"dealer": ["dealer"], "three": ["node0", "node1", "node2"]}


def measured(classifier: Classifier, x: np.ndarray, delay: float) -> dict[str, dict[str, Any]]:
    """Rows of the table; none, and one sentence why, where namespaces may not be made."""
    rows = {}
    for trust in OTHERS:
        try:
            rows[f"{trust}, {1000 * delay:.0f} ms"] = _one(classifier, x, trust, delay)
        except NotPermitted as error:
            print(error)
            return {}
    return rows


def _one(classifier: Classifier, x: np.ndarray, trust: str, delay: float) -> dict[str, Any]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make_keys(folder / "keys")
        save_classifier(classifier, folder / "model")
        np.save(folder / "x.npy", x)
        names = {role: f"textveil-{role}" for role in ("server", "client", *OTHERS[trust])}
        network = Network(list(names.values()), delay)
        stack.callback(network.close)
        at = {role: f"{network.addresses[name]}:{PORT}" for role, name in names.items()}
        who = ["--dealer", at["dealer"]] if trust == "dealer" else ["--nodes", ",".join(at[n] for n in OTHERS["three"])]
        for role in OTHERS[trust]:
            rank = ["--rank", role[-1]] if trust == "three" else []
            command = [role.rstrip("012"), "--keys", f"{folder}/keys/{role}", "--listen", at[role], *rank]
            _start(stack, network.inside(names[role]), command)
        host = at["server"].partition(":")[0]
        _start(stack, network.inside(names["server"]), ["serve", f"{folder}/model", "--keys", f"{folder}/keys/server",
               "--listen", at["server"], "--trust", trust, "--direct", host, "--rate", "100000", *who])  # fmt: skip
        command = [sys.executable, __file__, str(folder), trust, at["server"], at["client"], who[1]]
        client = subprocess.Popen([*network.inside(names["client"]), *command], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)  # fmt: skip
        return _rows(client, network)


def _start(stack: ExitStack, inside: list[str], command: list[str]) -> None:
    """Start a party and wait until it says that it is ready."""
    whole = [*inside, sys.executable, "-m", "textveil", "classify", *command]
    process = subprocess.Popen(whole, stderr=subprocess.PIPE, text=True)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    assert process.stderr is not None
    for line in process.stderr:
        if " on " in line:
            return
    raise RuntimeError(f"{command[0]} did not start")


def _rows(client: subprocess.Popen[str], network: Network) -> dict[str, Any]:
    """Let the client ask in steps, and read the bytes that the network carried meanwhile."""
    assert client.stdin is not None and client.stdout is not None
    client.stdout.readline()  # linked, and the first queries are done
    row = dict[str, Any]()
    for name, texts in (("sequential", TEXTS), ("batched", BATCH)):
        before = network.carried()
        print(name, file=client.stdin, flush=True)
        row[name] = json.loads(client.stdout.readline())
        row[f"{name}_mb"] = (network.carried() - before) / texts / 1e6
    client.stdin.close()
    client.wait()
    return row


def ask_inside(folder: Path, trust: str, server: str, own: str, who: str) -> None:
    """The client's process: ask when told to, and print the seconds a text."""
    x = np.load(folder / "x.npy", allow_pickle=False)
    others: dict[str, Any] = {"dealer": who} if trust == "dealer" else {"nodes": tuple(who.split(","))}
    host = own.partition(":")[0]
    with ClassifyClient(folder / "keys/client", server, trust, rows=[1, BATCH], direct=host, **others) as client:
        client.ask_batch(x[:1])
        client.ask_batch(x[:BATCH])
        print("linked", flush=True)
        for line in sys.stdin:
            size, repeats = (1, TEXTS) if line.strip() == "sequential" else (BATCH, 1)
            began = time.perf_counter()
            for number in range(repeats):
                client.ask_batch(x[number : number + size])
            print((time.perf_counter() - began) / (size * repeats), flush=True)


if __name__ == "__main__":
    ask_inside(Path(sys.argv[1]), *sys.argv[2:6])
