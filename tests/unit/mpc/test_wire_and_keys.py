"""Messages, keys, limits: bad peers get one sentence, and nobody else notices."""

from __future__ import annotations

import json
import socket
import struct

import numpy as np
import pytest

from textveil.accounting.journal import Journal
from textveil.core.errors import BadInput, Refused
from textveil.mpc.dealer import Dealer
from textveil.mpc.keys import make_keys, own_token, require_caller
from textveil.mpc.quota import Quota
from textveil.mpc.service import call
from textveil.mpc.wire import BrokenWire, Wire


@pytest.fixture
def pair():
    one, other = socket.socketpair()
    yield one, Wire(other, "the peer", most_blobs=1000)
    one.close()
    other.close()


def test_messages_come_back(pair):
    one, wire = pair
    Wire(one, "me").send({"do": "run", "n": 3}, [b"abc", b""])
    assert wire.receive(seconds=1) == ({"do": "run", "n": 3}, [b"abc", b""])
    Wire(one, "me").refuse("no\x1b[2J")
    with pytest.raises(Refused, match=r"no\?\[2J"):
        wire.receive(seconds=1)


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack(">I", 1 << 30),
        struct.pack(">I", 4) + b"nope",
        struct.pack(">I", 2) + b"{}",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 12) + b'{"blobs": 3}',
        struct.pack(">I", 15) + b'{"blobs": [-3]}',
        struct.pack(">I", 17) + b'{"blobs": [9999]}',
        struct.pack(">I", 9000) + b"[" * 9000,
    ],
)
def test_what_is_no_message_is_said_in_one_sentence(pair, raw):
    one, wire = pair
    one.sendall(raw)
    one.close()
    with pytest.raises(BrokenWire):
        wire.receive(seconds=1)


def test_garbage_for_500_rounds(pair):
    rng = np.random.default_rng(1)
    for _ in range(500):
        one, other = socket.socketpair()
        with one, other:
            one.sendall(struct.pack(">I", int(rng.integers(0, 64))) + rng.bytes(int(rng.integers(0, 200))))
            one.shutdown(socket.SHUT_WR)
            with pytest.raises((BrokenWire, Refused)):
                Wire(other, "the peer").receive(seconds=1)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("k") / "keys"
    assert "server" in make_keys(folder, ("bob",))
    return folder


def test_keys_have_owners(keys):
    assert (keys / "bob/key.pem").stat().st_mode & 0o077 == 0 and (keys / "bob/token").stat().st_mode & 0o077 == 0
    assert require_caller(keys / "server", own_token(keys / "bob")) == ("bob", "client")
    assert own_token(keys / "bob") not in (keys / "server/tokens.json").read_text()
    for token in ("", None, 7, own_token(keys / "bob")[:-1]):
        with pytest.raises(Refused, match="token"):
            require_caller(keys / "server", token)
    assert make_keys(keys, ("carol",)) == ["carol"]
    assert require_caller(keys / "dealer", own_token(keys / "carol")).role == "client"
    for name in ("server", "Bob", "../x"):
        with pytest.raises(BadInput):
            make_keys(keys, (name,))


def said(keys, address) -> str:
    """The sentence with which a dealer refuses."""
    wire = call(keys, address, "dealer", {"do": "join", "session": "x"})
    with pytest.raises(Refused) as refusal:
        wire.receive(seconds=5)
    wire.close()
    return str(refusal.value)


def test_who_is_not_known_is_refused(keys, tmp_path):
    dealer = Dealer(keys / "dealer", log=lambda line: None)
    dealer.service.start()
    address = f"127.0.0.1:{dealer.service.port}"
    try:
        make_keys(tmp_path / "others", ("bob",))
        with pytest.raises(BadInput, match="do not trust"):
            call(tmp_path / "others/bob", address, "dealer", {})
        with pytest.raises(BadInput, match="do not trust"):
            call(keys / "bob", address, "server", {})  # a dealer is no server
        token = (keys / "bob/token").read_text()
        (keys / "bob/token").write_text("wrong")
        assert "token is not known" in said(keys / "bob", address)
        (keys / "bob/token").write_text(token)
        assert "parties of a session" in said(keys / "bob", address)
    finally:
        dealer.service.close()


def test_the_budget_goes_on_over_restarts(tmp_path):
    with Journal(tmp_path / "state") as journal:
        quota = Quota(journal, budget=10, per_minute=None)
        quota.take("bob", 7)
        quota.take("carol", 10)
        with pytest.raises(Refused, match="bob has 3 texts left"):
            quota.take("bob", 4)
    with Journal(tmp_path / "state") as journal:
        quota = Quota(journal, budget=10, per_minute=None)
        assert (quota.left("bob"), quota.left("carol"), quota.left("dan")) == (3, 0, 10)
        quota.take("bob", 3)
    assert json.loads((tmp_path / "state/journal.jsonl").read_text().splitlines()[-1])["count"]["value"] == 10


def test_the_rate_is_that_of_a_minute():
    now = [0.0]
    quota = Quota(None, budget=None, per_minute=5, clock=lambda: now[0])
    quota.take("bob", 5)
    with pytest.raises(Refused, match="a minute"):
        quota.take("bob", 1)
    quota.take("carol", 1)
    now[0] = 61
    quota.take("bob", 5)
