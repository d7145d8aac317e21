"""A server and three sites in processes of their own, over TLS, at a free port: who dies, who lies, who may not come in.

    site a   `textveil federate join`, well behaved, with a ledger of its own
    site b   sends another kind of garbage in each round (odd_site.py), among it exceptions that quote a private name
    site c   hangs in round 2, and is killed there; nobody comes back in its place
    server   is killed in round 4, while b keeps it waiting, and started again by the same command (its --count apart)

The noise is 1e-7 of the clip, below single precision, so that every round is charged and the model can still be
compared with the updates of those who sent some.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import odd_site
import psutil
import pytest
from odd_site import NAME
from waiting import wait_until

from textveil.cli import run
from textveil.federated.deployment.certificates import make_server_certificate
from textveil.federated.deployment.keys import make_site_key

ROUNDS, RATE, CLIP = 7, 0.5, 1.0
LABELS = ("bad", "good")
SITES = ("a", "b", "c")


class Fleet:
    """The processes of the journey, each in a session of its own, with a home of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *command: object) -> subprocess.Popen[bytes]:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        places = dict.fromkeys(("HOME", "TMPDIR", "FLWR_HOME", "XDG_CACHE_HOME"), str(home))
        with open(home / "printed.txt", "ab") as printed:
            process = subprocess.Popen(
                [sys.executable, *map(str, command)],
                cwd=home,
                env={**os.environ, **places, "OMP_NUM_THREADS": "1"},
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def printed(self, name: str) -> str:
        return (self.folder / name / "printed.txt").read_text()

    def left(self) -> list[psutil.Process]:
        """Processes that somebody of the journey started and that still run."""
        sessions = {process.pid for process in self.started}
        return [p for p in psutil.process_iter() if _session(p) in sessions and _runs(p)]

    def end(self) -> None:
        for process in self.started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in self.started:
            process.wait()


def _session(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid)
    except OSError:
        return -1


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def fleet(tmp_path):
    made = Fleet(tmp_path)
    yield made
    made.end()


def write_notes(path: Path, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    words = {"good": ["fine", "kind", "warm"], "bad": ["cold", "rude", "late"]}
    with open(path, "w", encoding="utf-8") as file:
        for k in range(count):
            label = LABELS[k % 2]
            text = " ".join([*rng.choice([*words[label], "ward", "nurse"], 6), NAME])
            file.write(json.dumps({"text": text, "label": label}) + "\n")


def make_start(folder: Path) -> None:
    """A small public model."""
    import torch

    from textveil.nets.text_cnn import TextCNN
    from textveil.text.vectors import from_arrays

    words = "fine kind warm cold rude late ward nurse".split()
    vectors = from_arrays(words, np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        TextCNN.of(LABELS, vectors, channels=4).save(folder)


def expected_weights(start: Path, folder: Path):
    """What the updates of a (all rounds) and c (round 1) give, computed here without Flower."""
    from textveil.federated.clipping import clip_flat
    from textveil.federated.local import LocalTraining
    from textveil.federated.weights import flat_of, put_into
    from textveil.nets.folders import load_net

    net, local = load_net(start), LocalTraining("sgd", RATE, batch=1000)
    weights = flat_of(net)
    for round in range(1, ROUNDS + 1):
        total = np.zeros(len(weights), np.float64)
        for site in ("a", "c") if round == 1 else ("a",):
            put_into(net, weights)
            rows = map(json.loads, (folder / f"{site}.jsonl").read_text(encoding="utf-8").splitlines())
            update = local(net, [(row["text"], row["label"]) for row in rows], seed=0, part=0).update
            total += clip_flat(update, CLIP)
        weights = weights + (total / len(SITES)).astype(np.float32)
    return weights


def test_a_server_and_three_sites_of_which_one_dies_and_one_lies(fleet, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    start, marks = tmp_path / "start", tmp_path / "marks"
    make_start(start)
    marks.mkdir()
    server_keys = make_server_certificate(tmp_path / "keys", ["127.0.0.1"])
    (tmp_path / "sites").mkdir()
    for n, site in enumerate(SITES):
        write_notes(tmp_path / f"{site}.jsonl", n, 8 + 2 * n)
        _, public = make_site_key(tmp_path / "keys", site)
        public.rename(tmp_path / "sites" / public.name)
    make_site_key(tmp_path / "keys", "stranger")
    ca = server_keys["ca.pem"]

    def serve(listen: str, count: int) -> subprocess.Popen[bytes]:
        return fleet.start(
            *("server", "-m", "textveil", "federate", "serve", "-o", "model", "--start", start),
            *("--sites", tmp_path / "sites", "--certificate", server_keys["server.pem"]),
            *("--key", server_keys["server.key"], "--listen", listen, "--task", "classifier"),
            *("--strategy", "dp-fedavg", "--noise", "1e-7", "--delta", "1e-3", "--allow-large-delta"),
            *("--clip", CLIP, "--rate", RATE, "--batch", 1000, "--rounds", ROUNDS),
            *("--wait", 240, "--count", count),
            *("--ledger", "sites.ledger", "--log", "flower.log"),
        )

    def join(site: str) -> subprocess.Popen[bytes]:
        return fleet.start(
            *(f"site-{site}", "-m", "textveil", "federate", "join", address, "--data", tmp_path / f"{site}.jsonl"),
            *("--ca", ca, "--key", tmp_path / "keys" / f"{site}.key", "--ledger", "own.ledger"),
        )

    def join_oddly(site: str, kind: str) -> subprocess.Popen[bytes]:
        key, notes = tmp_path / "keys" / f"{site}.key", tmp_path / f"{site}.jsonl"
        return fleet.start(f"site-{site}", odd_site.__file__, address, ca, key, notes, marks, kind)

    # the server listens at a free port
    server = serve("127.0.0.1:0", 3)
    assert wait_until(lambda: "sites may join at" in fleet.printed("server") or server.poll() is not None)
    assert server.poll() is None, fleet.printed("server")
    address = fleet.printed("server").split("sites may join at ")[1].split(": ")[0]
    good, liar, victim = join("a"), join_oddly("b", "garbage"), join_oddly("c", "hangs")

    # strangers: nothing but the fleet's entry is there, and it is closed
    with httpx.Client(base_url=f"https://{address}", verify=ssl.create_default_context(cafile=ca)) as stranger:
        for path in ("/", "/docs", "/openapi.json", "/v1/control/start-run", "/v1/runtime/acquire-task", "/v1/fleet/"):
            assert stranger.get(path).status_code == stranger.post(path, content=b"").status_code == 404
        for call in ("register-node", "unregister-node"):
            assert stranger.post(f"/v1/fleet/{call}").status_code == 404
        for call in ("activate-node", "pull-messages", "get-fab", "push-object"):
            assert stranger.post(f"/v1/fleet/{call}", content=b"\x00" * 100).status_code == 401
    make_server_certificate(tmp_path / "elsewhere", ["127.0.0.1"])
    for key, authority, sentence in (
        ("stranger", ca, "does not know this key"),
        ("a", tmp_path / "elsewhere" / "ca.pem", "was not signed by the authority of that file"),
    ):
        told = ("--data", tmp_path / "a.jsonl", "--key", tmp_path / "keys" / f"{key}.key", "--ca", authority)
        assert run([str(word) for word in ("federate", "join", address, *told)]) == 2
        assert sentence in capsys.readouterr().err

    # one site is killed in the middle of round 2, and the server in the middle of round 4
    assert wait_until((marks / "hangs").exists)
    victim.kill()
    assert wait_until((marks / "waits").exists)
    server.send_signal(signal.SIGKILL)
    server.wait()
    assert not (tmp_path / "server" / "model").exists()
    assert len(notes_of(tmp_path / "server" / "sites.ledger")) == 4  # round 4 is charged and not done
    liar.kill()
    server = serve(address, 2)  # c does not come back
    liar = join_oddly("b", "garbage")
    assert server.wait(240) == 0, fleet.printed("server")
    assert good.wait(60) == 0, fleet.printed("site-a")
    assert liar.wait(60) == 0, fleet.printed("site-b")

    # the model is what the surviving updates give
    from textveil.federated.weights import flat_of
    from textveil.nets.folders import load_net

    weights = expected_weights(start, tmp_path)
    begun = flat_of(load_net(start))
    trained = flat_of(load_net(tmp_path / "server" / "model"))
    assert np.linalg.norm(weights - begun) > 0.1
    np.testing.assert_allclose(trained, weights, rtol=1e-4, atol=1e-5)

    # every round is in the ledger, the one that was lost twice; site a notes that its updates left without noise, for
    # each of the two runs that it was told of
    assert [note.rpartition(": ")[2] for note in notes_of(tmp_path / "server" / "sites.ledger")] == [
        *("round 1", "round 2", "round 3", "round 4", "round 4", "round 5", "round 6", "round 7")
    ]
    assert notes_of(tmp_path / "site-a" / "own.ledger") == ["federate join a.jsonl"] * 2
    refused = json.loads((tmp_path / "server" / "model" / "release.json").read_text())["facts"]["federation"]["refused"]
    assert refused == {
        "b: not-finite": 1,
        "b: wrong-shape": 1,
        "b: failed": 2,
        "b: bad-reply": 1,
        "b: too-long": 2,
        "c: no-reply": 6,
    }

    # nothing of the planted name is anywhere at the server, and nobody is left
    files = [path for path in (tmp_path / "server").rglob("*") if path.is_file()]
    assert {"flower.log", "printed.txt", "sites.ledger", "card.html"} <= {path.name for path in files}
    for path in files:
        for part in NAME.split():
            assert part.encode() not in path.read_bytes(), path
    assert wait_until(lambda: not fleet.left(), 30), fleet.left()


def notes_of(path: Path) -> list[str]:
    """What the lines of a ledger are for."""
    from textveil.accounting.ledger import Ledger

    ledger = Ledger(path, must_exist=True)
    ledger.verify()
    return [entry.note for entry in ledger.entries()]
