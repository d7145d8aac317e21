"""Record what one party really sees: two engines on this machine, links without TLS, through a relay that reads along.

The links of a session are encrypted by TLS; its stream would look random whatever it holds. So the engines are run once
without it, on a toy network, and the values that they push to each other are read out of their frames (brpc's PRPC: a head of
12 bytes, a description, a protobuf message with key and value). One row a run: Alice's share of the input, all values that
she received, and for each exchange the sum (modulo 2^64) and the xor of what she sent and received: what the two opened.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.mpc.seen import ViewsSeen
from textveil.core import BadInput
from textveil.mpc.certificates import make_session_certificate
from textveil.mpc.dealer_http import DealerSession
from textveil.mpc.engine import Engine, ReservedPort, array_blobs, shares_of
from textveil.mpc.links import dealer_settings, patience
from textveil.mpc.networks import NetworkShape
from textveil.mpc.pipes import LOCAL, Relay, connect_local
from textveil.mpc.trust import trust_of
from textveil.mpc.wire import Message

SECONDS = 60.0
_KEY, _VALUE = 2, 3  # fields of a pushed message
TOY = NetworkShape(4, kernels=(2,), channels=1, pool=1, hidden=0)
Shares = Callable[[Message], Message]


class Tap:
    """A relay to a port that keeps a copy of what it carries there."""

    def __init__(self, port: int):
        self._port, self.carried = port, list[bytes]()
        self._lock = threading.Lock()
        self.relay = Relay(self._forward)

    def _forward(self, connection: socket.socket) -> None:
        with connect_local(self._port, SECONDS) as inner:
            inner.settimeout(None)
            back = threading.Thread(target=self._copy, args=(inner, connection, False), daemon=True)
            back.start()
            self._copy(connection, inner, True)
            back.join(5.0)

    def _copy(self, source: socket.socket, target: socket.socket, keep: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                if keep:
                    with self._lock:
                        self.carried.append(piece)
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def take(self) -> dict[str, bytes]:
        """The values that were pushed since the last call, by their key."""
        with self._lock:
            raw, self.carried = b"".join(self.carried), []
        return dict(pushed_values(raw))


def pushed_values(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Key and value of every frame but acknowledgements.

    >>> message = bytes([0x12, 2]) + b"k1" + bytes([0x1A, 3]) + b"abc"
    >>> list(pushed_values(b"PRPC" + struct.pack(">II", 1 + len(message), 1) + b"m" + message))
    [('k1', b'abc')]
    """
    place = 0
    while place + 12 <= len(raw) and raw[place : place + 4] == b"PRPC":
        body, meta = struct.unpack(">II", raw[place + 4 : place + 12])
        fields = dict(_fields(raw[place + 12 + meta : place + 12 + body]))
        key = fields.get(_KEY, b"").partition(b"\x01")[0].decode("latin-1")
        if key and not key.startswith("ACK"):
            yield key, fields.get(_VALUE, b"")
        place += 12 + body


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message that hold bytes, with their numbers."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        if tag & 7 == 0:
            _, place = _varint(message, place)
        elif tag & 7 == 2:
            size, place = _varint(message, place)
            yield tag >> 3, message[place : place + size]
            place += size
        else:
            return


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message):
        byte = message[place]
        value, place, shift = value | (byte & 127) << shift, place + 1, shift + 7
        if byte < 128:
            break
    return value, place


def record_views(runs: int = 60, *, tamper: Shares = lambda shares: shares) -> ViewsSeen:
    """Alice's views while Bob's input is one of two that get the same label, by turns. `tamper` plants a fault."""
    rng = np.random.default_rng(11)
    arrays = {name: rng.normal(size=dims).astype(np.float32) for name, dims in TOY.arrays().items()}
    inputs = [np.full((1, TOY.inputs), value, dtype=np.float32) for value in (0.25, 3.0)]
    arrays["out_bias"] += 100  # both get the label 1
    views: list[list[NDArray[np.uint8]]] = [[], []]
    with ExitStack() as stack:
        engines, taps = _linked(stack, arrays)
        for run in range(2 * runs):
            views[run % 2].append(_view(engines, taps, inputs[run % 2], tamper))
    shortest = min(len(row) for world in views for row in world)
    if any(len(row) != shortest for world in views for row in world):
        raise BadInput("the views of the runs have different lengths: the lengths alone may tell something")
    return ViewsSeen(np.stack(views[0]), np.stack(views[1]))


def _linked(stack: ExitStack, arrays: dict[str, Any]) -> tuple[list[Engine], list[Tap]]:
    trust = trust_of("dealer")
    engines = [stack.enter_context(Engine()) for _ in range(2)]
    _both(engines, lambda e, i: e.ask("compile", seconds=SECONDS, shape=TOY.to_json(), rows=[1], answer="label",
                                      parties=2, config=trust.config()))  # fmt: skip
    own = [make_session_certificate() for _ in range(2)]
    dealing = DealerSession(LOCAL, 0, own[0].certificate)
    stack.callback(dealing.close)
    answer = Message(
        {"port": dealing.port, "key": dealing.key.public_pem().decode(),
         "certificate": dealing.certificate.certificate.decode()}, [],
    )  # fmt: skip
    reserved = [ReservedPort(), ReservedPort()]
    ports = [port.number for port in reserved]
    taps = [Tap(port) for port in ports]  # what reaches Alice, and what reaches Bob
    for tap in taps:
        stack.callback(tap.relay.close)

    def connect(engine: Engine, rank: int) -> None:
        folder = engine.session_folder(own[rank], [own[1 - rank].certificate])
        hosts = [f"{LOCAL}:{ports[i] if i == rank else taps[i].relay.port}" for i in (0, 1)]
        config = {**trust.config(), **dealer_settings(answer, f"{LOCAL}:1", folder)}
        said: dict[str, Any] = {
            "session": "views",
            "rank": rank,
            "hosts": hosts,
            "folder": str(folder),
            "config": config,
        }
        engine.ask("connect", seconds=SECONDS, tls=False, **said, **patience(SECONDS))

    _both(engines, connect)
    for port in reserved:
        port.release()
    names, raw = array_blobs(arrays)
    shares = engines[0].ask("share", raw, seconds=SECONDS, arrays=names)
    _both(engines, lambda e, i: e.ask("put", shares_of(shares, i)[1], seconds=SECONDS, shares=shares_of(shares, i)[0]))
    _both(engines, lambda e, i: e.ask("run", seconds=SECONDS, program="weights"))
    return engines, taps


def _view(engines: list[Engine], taps: list[Tap], x: NDArray[Any], tamper: Shares) -> NDArray[np.uint8]:
    names, raw = array_blobs({"x": x})
    shares = tamper(engines[1].ask("share", raw, seconds=SECONDS, arrays=names))
    for tap in taps:
        tap.take()
    _both(engines, lambda e, i: e.ask("put", shares_of(shares, i)[1], seconds=SECONDS, shares=shares_of(shares, i)[0]))
    _both(engines, lambda e, i: e.ask("run", seconds=SECONDS, program="run 1"))
    received, sent = taps[0].take(), taps[1].take()
    parts = list(shares_of(shares, 0)[1][1:])
    for key in sorted(received, key=_order):
        mine, theirs = sent.get(key.replace("1->0", "0->1"), b""), received[key]
        parts.append(theirs)
        if len(mine) == len(theirs):
            ours, others = (np.frombuffer(raw + bytes(-len(raw) % 8), dtype="<u8") for raw in (mine, theirs))
            parts += [(ours + others).tobytes(), (ours ^ others).tobytes()]
    return np.frombuffer(b"".join(parts), dtype=np.uint8)


def _order(key: str) -> tuple[str, int]:
    """Exchanges in the order of their numbers, which grow from run to run."""
    digits = "".join(letter for letter in key.partition(":")[2].partition(":")[0] if letter.isdigit())
    return key.rpartition(":")[2], int(digits or 0)


def _both(engines: list[Engine], do: Callable[[Engine, int], Any]) -> None:
    """Ask both engines at once: they wait for each other."""
    failures = list[BaseException]()

    def run(rank: int) -> None:
        try:
            do(engines[rank], rank)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


__all__ = ["record_views"]
