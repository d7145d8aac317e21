"""Deadlines count from the last sign of life: who is slow is waited for, who stands still or leaves is not."""

from __future__ import annotations

import socket
import struct
import threading
import time

import pytest

from textveil.core.errors import Refused
from textveil.mpc import waiting
from textveil.mpc.engine import ReservedPort
from textveil.mpc.pipes import connect_local
from textveil.mpc.waiting import Pulse, await_readable
from textveil.mpc.wire import BrokenWire, Wire


class Ends:
    """Both ends of a connection."""

    def __init__(self, name):
        one, other = socket.socketpair()
        self.near, self.far = Wire(one, name), Wire(other, "us")

    def close(self):
        self.near.close()
        self.far.close()


@pytest.fixture
def engine():
    made = Ends("the engine")
    yield made
    made.close()


@pytest.fixture
def peer():
    made = Ends("bob")
    yield made
    made.close()


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.02)


def test_a_slow_peer_with_signs_of_life_is_waited_for(peer):
    def answer_late():
        for _ in range(6):
            time.sleep(0.1)
            peer.far.beat()
        peer.far.send({"done": True})

    threading.Thread(target=answer_late).start()
    assert peer.near.receive(seconds=0.4).said == {"done": True}  # after .6 s


def test_signs_of_life_are_passed_on(peer, engine):
    peer.far.beat()
    peer.far.send({"done": True})
    peer.near.receive(seconds=5, tell=[engine.near])
    assert engine.far.hear(seconds=5)


def test_signs_of_life_do_not_last_for_ever(peer, monkeypatch):
    monkeypatch.setattr("textveil.mpc.wire.PATIENCE", 2)
    ended = threading.Event()

    def go_on():
        while not ended.wait(0.02):
            peer.far.beat()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        with pytest.raises(BrokenWire, match="in time"):
            peer.near.receive(seconds=0.2)
    finally:
        ended.set()
        thread.join()


def test_a_message_that_stops_half_way_is_late_and_not_nonsense(peer):
    peer.far.socket.sendall(struct.pack(">I", 20) + b'{"blobs"')
    with pytest.raises(BrokenWire, match="bob did not answer in time"):
        peer.near.receive(seconds=0.1)


def test_an_engine_that_works_is_waited_for_and_one_that_stands_still_is_not(engine, peer, quick):
    beats = iter([True] * 20)
    with pytest.raises(BrokenWire, match="the engine did not answer in time"):
        await_readable(engine.near, seconds=0.05, tell=[peer.near], pulse=lambda: next(beats, False))
    assert next(beats, None) is None  # it was looked at until its last sign, and beyond
    assert peer.far.hear(seconds=1)


def test_a_sign_of_life_does_not_go_back_to_where_it_came_from(engine, peer, quick):
    """Else two parties whose engines stand still would keep each other alive."""
    peer.far.beat()
    with pytest.raises(BrokenWire, match="the engine did not answer in time"):
        await_readable(engine.near, seconds=0.1, watch=[peer.near], tell=[peer.near])
    with pytest.raises(BrokenWire, match="in time"):
        peer.far.receive(seconds=0.1)


def test_a_peer_that_ends_refuses_or_leaves_ends_the_wait(engine, peer):
    peer.far.refuse("no more texts")
    with pytest.raises(Refused, match="no more texts"):
        await_readable(engine.near, seconds=30, watch=[peer.near])
    peer.far.send({"do": "bye"})
    with pytest.raises(BrokenWire, match="bob broke off"):
        await_readable(engine.near, seconds=30, watch=[peer.near])
    peer.far.close()
    with pytest.raises(BrokenWire, match="bob ended"):
        await_readable(engine.near, seconds=30, watch=[peer.near])


def test_an_early_message_is_kept_for_its_time(engine, peer):
    """The peer's engine was done first, and it asks again while ours still finishes."""
    peer.far.send({"do": "run"}, [b"share"])
    threading.Timer(0.2, lambda: engine.far.send({"done": True})).start()
    await_readable(engine.near, seconds=30, watch=[peer.near])
    assert engine.near.receive(seconds=5).said == {"done": True}
    assert peer.near.receive(seconds=5) == ({"do": "run"}, [b"share"])


def test_a_peer_that_goes_on_talking_is_ended(engine, peer):
    for _ in range(9):
        peer.far.send({"do": "run"})
    with pytest.raises(BrokenWire, match="bob broke off"):
        await_readable(engine.near, seconds=30, watch=[peer.near])


def test_cpu_time_is_a_sign_of_life():
    import os

    pulse = Pulse(os.getpid(), seconds=4.0)
    assert not pulse()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    assert pulse() and not pulse()


def test_a_reserved_port_is_nobody_elses_and_takes_a_listener():
    reserved = ReservedPort()
    others = {ReservedPort() for _ in range(200)}
    assert reserved.number not in {other.number for other in others}
    with socket.create_server(("127.0.0.1", reserved.number)), connect_local(reserved.number, 5):
        pass
    for port in (reserved, *others):
        port.release()


def test_a_connection_waits_until_the_engine_listens():
    reserved = ReservedPort()
    listeners = []
    threading.Timer(0.3, lambda: listeners.append(socket.create_server(("127.0.0.1", reserved.number)))).start()
    connect_local(reserved.number, 30).close()
    with pytest.raises(OSError):
        listeners[0].close()
        connect_local(reserved.number, 30, lambda: True)
    reserved.release()
