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
import re
import signal
import socket
import ssl
import subprocess
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import numpy as np
import odd_site
import psutil
import pytest
from odd_site import NAME
from waiting import GENEROUS, wait_until

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


class Journey:
    """The files of the journey, and the commands that start its parts."""

    def __init__(self, fleet: Fleet, folder: Path):
        self.fleet, self.folder = fleet, folder
        self.start, self.marks, self.keys = folder / "start", folder / "marks", folder / "keys"
        self.server_folder = folder / "server"
        self.address = "127.0.0.1:0"
        make_start(self.start)
        self.marks.mkdir()
        self.certificate = make_server_certificate(self.keys, ["127.0.0.1"])
        self.ca = self.certificate["ca.pem"]
        (folder / "sites").mkdir()
        for n, site in enumerate(SITES):
            write_notes(folder / f"{site}.jsonl", n, 8 + 2 * n)
            _, public = make_site_key(self.keys, site)
            public.rename(folder / "sites" / public.name)

    def serve(self, count: int) -> subprocess.Popen[bytes]:
        """The server, when it listens: at a free port first, then where it was."""
        before = self.printed().count("sites may join at")
        server = self.fleet.start(
            *("server", "-m", "textveil", "federate", "serve", "-o", "model", "--start", self.start),
            *("--sites", self.folder / "sites", "--certificate", self.certificate["server.pem"]),
            *("--key", self.certificate["server.key"], "--listen", self.address, "--task", "classifier"),
            *("--strategy", "dp-fedavg", "--noise", "1e-7", "--delta", "1e-3", "--allow-large-delta"),
            *("--clip", CLIP, "--rate", RATE, "--batch", 1000, "--rounds", ROUNDS),
            *("--wait", GENEROUS, "--count", count, "--ledger", "sites.ledger", "--log", "flower.log"),
        )
        assert wait_until(lambda: self.printed().count("sites may join at") > before or server.poll() is not None)
        assert server.poll() is None, self.printed()
        self.address = self.printed().split("sites may join at ")[-1].split(": ")[0]
        return server

    def printed(self) -> str:
        return self.fleet.printed("server") if (self.server_folder / "printed.txt").exists() else ""

    def join(self, site: str) -> subprocess.Popen[bytes]:
        notes, key = self.folder / f"{site}.jsonl", self.keys / f"{site}.key"
        told = ("--data", notes, "--ca", self.ca, "--key", key, "--ledger", "own.ledger")
        return self.fleet.start(f"site-{site}", "-m", "textveil", "federate", "join", self.address, *told)

    def join_oddly(self, site: str, kind: str) -> subprocess.Popen[bytes]:
        notes, key = self.folder / f"{site}.jsonl", self.keys / f"{site}.key"
        return self.fleet.start(f"site-{site}", odd_site.__file__, self.address, self.ca, key, notes, self.marks, kind)

    def ledger(self) -> list[str]:
        return [note.rpartition(": ")[2] for note in notes_of(self.server_folder / "sites.ledger")]


def test_a_server_and_three_sites_of_which_one_dies_and_one_lies(fleet, tmp_path, capsys):
    journey = Journey(fleet, tmp_path)
    server = journey.serve(count=3)
    good, liar, victim = journey.join("a"), journey.join_oddly("b", "garbage"), journey.join_oddly("c", "hangs")
    check_strangers(journey)
    check_who_may_not_join(journey, capsys)

    assert wait_until((journey.marks / "hangs").exists)  # c is in the middle of round 2
    victim.kill()
    assert wait_until((journey.marks / "waits").exists)  # b keeps the server waiting in round 4
    server.kill()
    server.wait()
    assert not (journey.server_folder / "model").exists()
    assert journey.ledger() == ["round 1", "round 2", "round 3", "round 4"]  # charged before it was sent

    liar.kill()
    server = journey.serve(count=2)  # c does not come back
    liar = journey.join_oddly("b", "garbage")
    assert server.wait(GENEROUS) == 0, journey.printed()
    for site, process in (("a", good), ("b", liar)):
        assert process.wait(GENEROUS) == 0, fleet.printed(f"site-{site}")

    check_model(journey)
    check_ledgers(journey)
    check_refused(journey)
    check_no_name_at_the_server(journey)
    assert wait_until(lambda: not fleet.left(), 30), fleet.left()


def check_strangers(journey: Journey) -> None:
    """Nothing but the fleet's entry is there, and it is closed."""
    context = ssl.create_default_context(cafile=journey.ca)
    with httpx.Client(base_url=f"https://{journey.address}", verify=context) as stranger:
        for path in ("/", "/docs", "/openapi.json", "/v1/control/start-run", "/v1/runtime/acquire-task", "/v1/fleet/"):
            assert stranger.get(path).status_code == stranger.post(path, content=b"").status_code == 404
        for call in ("register-node", "unregister-node"):
            assert stranger.post(f"/v1/fleet/{call}").status_code == 404
        for call in ("activate-node", "pull-messages", "get-fab", "push-object"):
            assert stranger.post(f"/v1/fleet/{call}", content=b"\x00" * 100).status_code == 401


def check_who_may_not_join(journey: Journey, capsys) -> None:
    """A key that is not registered, and a server that another authority vouches for."""
    make_site_key(journey.keys, "stranger")
    elsewhere = make_server_certificate(journey.folder / "elsewhere", ["127.0.0.1"])
    for key, authority, sentence in (
        ("stranger", journey.ca, "does not know this key"),
        ("a", elsewhere["ca.pem"], "was not signed by the authority of that file"),
    ):
        told = ("--data", journey.folder / "a.jsonl", "--key", journey.keys / f"{key}.key", "--ca", authority)
        assert run([str(word) for word in ("federate", "join", journey.address, *told)]) == 2
        assert sentence in capsys.readouterr().err


def check_model(journey: Journey) -> None:
    """The model is what the surviving updates give."""
    from textveil.federated.weights import flat_of
    from textveil.nets.folders import load_net

    expected = expected_weights(journey.start, journey.folder)
    trained = flat_of(load_net(journey.server_folder / "model"))
    assert np.linalg.norm(expected - flat_of(load_net(journey.start))) > 0.1
    np.testing.assert_allclose(trained, expected, rtol=1e-4, atol=1e-5)


def check_ledgers(journey: Journey) -> None:
    """Every round is there, the lost one twice; site a notes for each run that its updates left without noise."""
    assert journey.ledger() == [f"round {n}" for n in (1, 2, 3, 4, 4, 5, 6, 7)]
    assert notes_of(journey.folder / "site-a" / "own.ledger") == ["federate join a.jsonl"] * 2


def check_refused(journey: Journey) -> None:
    """Who was left out is said to the operator, by name and code, and stands in no release that promises something."""
    release = json.loads((journey.server_folder / "model" / "release.json").read_text())
    assert not release["facts"]["federation"].get("refused")
    said = re.findall(r"^refused: (\w): ([\w-]+) \((\d+)\)$", journey.printed(), re.MULTILINE)
    assert {f"{site}: {code}": int(times) for site, code, times in said} == {
        "b: not-finite": 1,
        "b: wrong-shape": 1,
        "b: failed": 2,
        "b: bad-reply": 1,
        "b: too-long": 2,
        "c: no-reply": 6,
    }


def check_no_name_at_the_server(journey: Journey) -> None:
    files = [path for path in journey.server_folder.rglob("*") if path.is_file()]
    assert {"flower.log", "printed.txt", "sites.ledger", "card.html"} <= {path.name for path in files}
    for path in files:
        for part in NAME.split():
            assert part.encode() not in path.read_bytes(), path


BAD = {
    "an expired certificate": (
        ("--certificate", "old/server.pem", "--key", "old/server.key"),
        "server.pem: expired on",
    ),
    "a key of another certificate": (("--key", "old/server.key"), "server.key: is not the private key of server.pem"),
    "no sites": (("--sites", "empty"), "empty: holds no public key"),
    "no address": (("--listen", "here"), "'here' is no address"),
    "no model": (("--start", "empty"), "empty: is not a model folder"),
    "a model of another task": (("--task", "lm"), "start: holds a model for the task 'classifier', not 'lm'"),
    "more sites than there are": (("--users-per-round", "9"), "9 clients a round are more than there are"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_server_that_cannot_serve_says_why_and_leaves_nothing(case, textveil, tmp_path, monkeypatch):
    make_start(tmp_path / "start")
    make_server_certificate(tmp_path / "keys", ["127.0.0.1"])
    make_old_certificate(tmp_path / "old", monkeypatch)
    (tmp_path / "empty").mkdir()
    make_site_key(tmp_path / "sites", "a")
    usual = {
        **{"--sites": "sites", "--certificate": "keys/server.pem", "--key": "keys/server.key"},
        **{"--start": "start", "--task": "classifier", "--listen": "127.0.0.1:0", "--ledger": "a.ledger"},
    }
    wrong, sentence = BAD[case]
    before = set(tmp_path.rglob("*"))
    options = {**usual, **dict(zip(wrong[::2], wrong[1::2], strict=True))}
    said = textveil("federate", "serve", "-o", "model", "--wait", "1", *(w for pair in options.items() for w in pair))
    assert (said.code, len(said.err.splitlines())) == (2, 1) and sentence in said.err
    assert set(tmp_path.rglob("*")) == before


def make_old_certificate(folder: Path, monkeypatch) -> None:
    from textveil.federated.deployment import certificates

    class LongAgo(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(days=400)

    with monkeypatch.context() as patched:
        patched.setattr(certificates, "datetime", LongAgo)
        make_server_certificate(folder, ["127.0.0.1"])


def test_a_site_without_a_server_says_so(textveil, tmp_path):
    write_notes(tmp_path / "a.jsonl", 0, 4)
    make_site_key(tmp_path, "a")
    ca = make_server_certificate(tmp_path, ["127.0.0.1"])["ca.pem"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    said = textveil("federate", "join", address, "--data", "a.jsonl", "--ca", ca, "--key", "a.key", "--patience", "1")
    assert said.code == 2 and said.err == f"textveil: nobody answered at {address} for 1 seconds\n"
    said = textveil("federate", "join", address, "--data", "b.jsonl", "--ca", ca, "--key", "a.key", "--patience", "1")
    assert said.code == 2 and "b.jsonl" in said.err


def notes_of(path: Path) -> list[str]:
    """What the lines of a ledger are for."""
    from textveil.accounting.ledger import Ledger

    ledger = Ledger(path, must_exist=True)
    ledger.verify()
    return [entry.note for entry in ledger.entries()]
