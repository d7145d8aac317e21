"""One secure classification of each trust, end to end, over real sockets; and what happens when a party misbehaves.

The engine has an environment of its own (`make engine`); where it could not be made, these tests say so.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time

import numpy as np
import pytest

from textveil.accounting.journal import Journal
from textveil.cli import run
from textveil.core.errors import BadInput, Refused, TextveilError
from textveil.mpc import client as client_module
from textveil.mpc.client import ClassifyClient
from textveil.mpc.dealer import Dealer
from textveil.mpc.engine import engine_python
from textveil.mpc.keys import make_keys
from textveil.mpc.model_folder import Classifier, save_classifier
from textveil.mpc.networks import NetworkShape, labels, scores
from textveil.mpc.node import Node
from textveil.mpc.oracle import oracle_scores, tolerance
from textveil.mpc.quota import Quota
from textveil.mpc.server import ClassifyServer, Limits, check_equal
from textveil.mpc.service import call
from textveil.recipes.mpc.local import local_parties

MISSING = ""
try:
    engine_python()
except BadInput as error:
    MISSING = str(error)

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
# `make test` classifies once in each trust; whatever else takes minutes of engines has a command of its own
with_time = pytest.mark.skipif(not os.environ.get("TEXTVEIL_ENGINE_TESTS"), reason="run by `make engine-test`")
SHAPE = NetworkShape(100, kernels=(3,), channels=2, stride=8, pool=2, hidden=3)
SECONDS = 120.0


def example_arrays():
    rng = np.random.default_rng(8)
    return {name: rng.normal(size=dims).astype(np.float32) for name, dims in SHAPE.arrays().items()}


class Parties:
    """A dealer, three nodes and a server for each trust, on this machine."""

    def __init__(self, folder):
        self.keys = folder / "keys"
        make_keys(self.keys, ("bob", "carol"))
        from textveil.mpc.inputs import Inputs

        facts = Inputs("words").facts.to_json()
        self.classifier = Classifier(SHAPE, example_arrays(), ("bad", "good"), facts)
        save_classifier(self.classifier, folder / "model")
        self.log: list[str] = []
        self.dealer = Dealer(self.keys / "dealer", log=self.log.append)
        self.nodes = [Node(self.keys / f"node{i}", i, log=self.log.append) for i in range(3)]
        self.journal = Journal(folder / "queries")
        self.quota = Quota(self.journal, budget=40, per_minute=None)
        self.servers = {
            trust: ClassifyServer(
                self.keys / "server", self.classifier, trust, quota=self.quota, log=self.log.append,
                limits=Limits(most_rows=20, seconds=SECONDS, score=trust == "dealer"), **self.others(trust),
            )
            for trust in ("dealer", "three", "two")
        }  # fmt: skip
        self.services = [
            self.dealer.service,
            *(n.service for n in self.nodes),
            *(s.service for s in self.servers.values()),
        ]
        for service in self.services:
            service.start()

    def others(self, trust):
        if trust == "dealer":
            return {"dealer": f"127.0.0.1:{self.dealer.service.port}"}
        return {"nodes": tuple(f"127.0.0.1:{n.service.port}" for n in self.nodes)} if trust == "three" else {}

    def address(self, trust):
        return f"127.0.0.1:{self.servers[trust].service.port}"

    def client(self, trust, rows, who="bob", **more):
        given = {**self.others(trust), "seconds": SECONDS, **more}
        return ClassifyClient(self.keys / who, self.address(trust), trust, rows=rows, **given)

    def close(self):
        for service in self.services:
            service.close()
        self.journal.close()


@pytest.fixture(scope="module")
def parties(tmp_path_factory):
    opened = Parties(tmp_path_factory.mktemp("mpc"))
    yield opened
    opened.close()


def rows(count):
    return np.random.default_rng(9).normal(size=(count, SHAPE.inputs)).astype(np.float32)


@pytest.mark.parametrize("trust", ["dealer", "three", "two"])
def test_labels_are_those_of_the_oracle(parties, trust):
    x = rows(3)
    with parties.client(trust, [2, 1]) as client:
        answers = list(client.ask(x))
    found = oracle_scores(SHAPE, parties.classifier.arrays, x)
    clear = np.abs(found[:, 0]) > tolerance(SHAPE, parties.classifier.arrays, x)
    said = np.array([answer.label for answer in answers])
    assert clear.any() and (said == labels(found))[clear].all()
    assert (said == labels(scores(SHAPE, parties.classifier.arrays, x)))[clear].all()


@with_time
def test_scores_directly_linked_are_within_the_tolerance(parties, monkeypatch):
    monkeypatch.setattr(parties.servers["dealer"], "direct", "127.0.0.1")
    x = rows(4)
    with parties.client("dealer", [4], answer="score", direct="127.0.0.1") as client:
        said = [answer.score for answer in client.ask(x)]
    found = oracle_scores(SHAPE, parties.classifier.arrays, x)[:, 0]
    slack = tolerance(SHAPE, parties.classifier.arrays, x) / 4 + 0.02  # the sigmoid's slope, and its approximation
    assert np.abs(np.array(said) - 1 / (1 + np.exp(-found))).max() < slack


@with_time
def test_three_classes_over_pieces():
    shape = NetworkShape(6, 5, kernels=(2, 3), channels=3, pool=5, hidden=0, classes=3)
    rng = np.random.default_rng(1)
    arrays = {name: rng.normal(size=dims).astype(np.float32) for name, dims in shape.arrays().items()}
    x = rng.normal(size=(8, shape.inputs)).astype(np.float32)
    arrays["out_bias"] -= scores(shape, arrays, x).mean(0)  # so that no class wins always
    classifier = Classifier(shape, arrays, ("a", "b", "c"), {"kind": "pieces"})
    with local_parties(classifier, "dealer") as local, local.connect([8]) as client:
        said = [answer.label for answer in client.ask(x)]
    assert said == labels(oracle_scores(shape, arrays, x)).tolist() and len(set(said)) > 1


@with_time
def test_a_file_becomes_a_release_of_labels(parties, tmp_path, capsys):
    texts = tmp_path / "messages.txt"
    texts.write_text("a wonderful day\nan awful secretword day\n")
    keys, out = str(parties.keys / "carol"), tmp_path / "out"
    command = ["classify", "ask", str(texts), "--keys", keys, "--server", parties.address("dealer"), "--dealer",
               parties.others("dealer")["dealer"], "-o", str(out), "--ledger", str(tmp_path / "l.ledger")]  # fmt: skip
    assert run(command) == 0
    said = capsys.readouterr()
    assert "trust: two parties and a dealer" in said.err and "collude" in said.err
    release = json.loads((out / "release.json").read_text())
    assert release["guarantee"]["label"] == "cryptographic" and release["guarantee"]["unit"] == "party"
    lines = [json.loads(line) for line in (out / "data.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [1, 2] and {line["label"] for line in lines} <= {"bad", "good"}
    card = (out / "card.html").read_text()
    assert "collude" in card and "semi-honest" in card and "secretword" not in card
    assert parties.journal.counted("queries of carol") == 2
    for bad, sentence in ((" \n", "has no words"), ("x" * 200 + "\n", "longer than 100 bytes")):
        texts.write_text(bad)
        assert run([*command[:-4], "--max-bytes", "100"]) == 2
        assert sentence in capsys.readouterr().err


@with_time
def test_what_differs_is_refused_before_any_link(parties, monkeypatch):
    """Other fixed-point bits would give wrong labels without any error."""
    config = client_module.Trust.config
    real = ClassifyClient._agree

    def with_other_bits(self):
        with monkeypatch.context() as patch:
            patch.setattr(client_module.Trust, "config", lambda trust, bits=16: config(trust, 18))
            return real(self)

    monkeypatch.setattr(ClassifyClient, "_agree", with_other_bits)
    with pytest.raises(Refused, match="different settings"):
        parties.client("dealer", [1])


def test_each_difference_is_named():
    ours = {"model": "m", "shapes": "s", "program": "p", "engine": "e", "settings": "c"}
    check_equal(dict(ours), ours)
    for name in ours:
        with pytest.raises(Refused, match=f"different {name}"):
            check_equal({**ours, name: "other"}, ours)


@with_time
def test_limits_are_said_in_one_sentence(parties):
    with pytest.raises(Refused, match="1 to 20 texts"):
        parties.client("two", [21])
    with pytest.raises(Refused, match="labels only"):
        parties.client("two", [1], answer="score")
    with pytest.raises(Refused, match="trust 'dealer'"):
        ClassifyClient(parties.keys / "bob", parties.address("dealer"), "two", rows=[1])
    parties.journal.count("queries of bob", 40)
    with pytest.raises(Refused, match="bob has 0 texts left"):
        parties.client("two", [1])
    parties.journal.count("queries of bob", -40 - parties.journal.counted("queries of bob"))


@with_time
@pytest.mark.parametrize("victim", ["client", "server", "dealer"])
def test_who_is_killed_or_stalls_ends_the_session_and_not_the_server(parties, victim):
    server = parties.servers["dealer"]
    wait_for(lambda: not server.sessions)  # of the test before
    client = parties.client("dealer", [1])
    session = next(iter(server.sessions.values()))
    if victim == "client":
        client.engine.process.kill()
    elif victim == "server":
        os.kill(session.engine.process.pid, signal.SIGSTOP)  # it stalls: the deadline ends it
        session.engine.ask, asked = (lambda do, *a, **k: asked(do, *a, **{**k, "seconds": 2.0})), session.engine.ask
    else:
        for pairing in list(parties.dealer._pairings.values()):
            pairing.ended.set()
            pairing.dealing.close()
    with pytest.raises(TextveilError) as error, client:
        list(client.ask(rows(1)))
    assert "\n" not in str(error.value)
    wait_for(lambda: not server.sessions)
    wire = call(parties.keys / "bob", parties.address("dealer"), "server", {"do": "facts"})
    assert wire.receive(seconds=SECONDS).said["labels"] == ["bad", "good"]
    wire.close()


def wait_for(is_so, seconds=SECONDS):
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert is_so()


@with_time
def test_two_clients_at_once_after_garbage(parties):
    import socket

    port = parties.servers["dealer"].service.port
    for _ in range(30):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(os.urandom(100))
    found = {}

    def ask(who):
        with parties.client("dealer", [2], who) as client:
            found[who] = [answer.label for answer in client.ask(rows(2))]

    threads = [threading.Thread(target=ask, args=(who,)) for who in ("bob", "carol")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["bob"] == found["carol"]
