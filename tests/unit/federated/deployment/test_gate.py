"""The gate before the public port, asked by strangers, registered sites and sites that send too much."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec

from textveil.federated.deployment import gate as gate_file
from textveil.federated.deployment.gate import Gate

CALL, PUSH = "/v1/fleet/pull-messages", "/v1/fleet/push-object"
HEADERS = ("key", "signature", "time")


def pem(private) -> bytes:
    return private.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


KNOWN, UNKNOWN = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))


def signed(private, *, key=None, age: float = 0.0) -> list[tuple[bytes, bytes]]:
    when = (datetime.now(UTC) - timedelta(seconds=age)).isoformat().encode()
    signature = private.sign(when, ec.ECDSA(hashes.SHA256()))
    return [(b"key", b64encode(key or pem(private))), (b"signature", b64encode(signature)), (b"time", when)]


class Behind:
    """The app behind the gate: keeps the bodies that reach it."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def __call__(self, scope, receive, send) -> None:
        self.bodies.append((await receive())["body"])
        await gate_file.answer(send, 200)


@pytest.fixture
def behind():
    return Behind()


@pytest.fixture
def gate(behind):
    return Gate(behind, {CALL, PUSH}, HEADERS, {pem(KNOWN): "hospital-a"})


def ask(gate, path=CALL, headers=(), parts=(b"",), kind="http") -> tuple[int | None, int]:
    """The status of the answer, and how many parts of the body were read."""
    statuses, waiting = [], list(parts)

    async def receive():
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message):
        statuses.extend([message["status"]] if "status" in message else [])

    asyncio.run(gate({"type": kind, "path": path, "headers": list(headers)}, receive, send))
    return (statuses[0] if statuses else None), len(parts) - len(waiting)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/",
            "/docs",
            "/openapi.json",
            "/v1/control/start-run",
            "/v1/runtime/acquire-task",
            "/v1/fleet",
            "/v1/fleet/",
        ),
        *(
            "/v1/fleet/register-node",
            "/v1/fleet/../control/start-run",
            "//v1/fleet/pull-messages",
            "/v1/fleet/pull-messages/",
        ),
    ],
)
def test_other_paths_are_not_there_even_for_a_registered_site(gate, behind, path):
    assert ask(gate, path, signed(KNOWN)) == (404, 0)
    assert behind.bodies == []


def test_strangers_are_turned_down_before_their_body_is_read(gate, behind):
    now = signed(KNOWN)
    for headers in (
        [],
        signed(UNKNOWN),
        signed(UNKNOWN, key=pem(KNOWN)),  # the key is public, the signature is what counts
        signed(KNOWN, age=3600),
        signed(KNOWN, age=-3600),
        [now[0], now[1], (b"time", b"yesterday")],
        [now[0], (b"signature", b"no base64!"), now[2]],
        [(b"key", b64encode(b"no key")), now[1], now[2]],
    ):
        assert ask(gate, headers=headers) == (401, 0)
    assert behind.bodies == []


def test_a_registered_site_gets_through_with_its_whole_body(gate, behind):
    assert ask(gate, headers=signed(KNOWN), parts=[b"one ", b"two"]) == (200, 2)
    assert behind.bodies == [b"one two"]


def test_long_bodies_are_not_read_to_their_end(gate, behind, monkeypatch):
    monkeypatch.setattr(gate_file, "MOST", 10)
    assert ask(gate, headers=signed(KNOWN), parts=[b"x" * 6] * 100) == (413, 2)
    assert behind.bodies == []


def test_a_site_that_pushes_more_than_an_answer_is_noted_until_the_next_round(gate, behind):
    gate.allow(10)
    assert ask(gate, PUSH, signed(KNOWN), [b"x" * 8])[0] == 200
    assert gate.oversized() == set()
    assert ask(gate, PUSH, signed(KNOWN), [b"x" * 8])[0] == 413
    assert gate.oversized() == {"hospital-a"}
    assert ask(gate, CALL, signed(KNOWN), [b"x" * 8])[0] == 200  # it may still say that it lives
    gate.allow(10)
    assert gate.oversized() == set()
    assert ask(gate, PUSH, signed(KNOWN), [b"x" * 8])[0] == 200


def test_websockets_and_start_up_hooks_get_no_answer(gate):
    assert ask(gate, kind="websocket")[0] is None
    assert ask(gate, kind="lifespan")[0] is None
