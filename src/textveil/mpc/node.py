"""One of three servers that compute on shares (trust `three`): it holds two of three shares of everything, and no more.

The model's owner opens a session at all three nodes, gives each its share of the weights and allows runs; the text's owner
joins it, sends each its share of the rows and gets its share of the answers. A node tells the client which certificates it
pinned for its peers, so that the client, who knows all three by their identity, can see that they talk to each other.
"""

from __future__ import annotations

import hashlib
import hmac
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput, Refused

from .certificates import make_session_certificate
from .engine import Engine, ReservedPort
from .keys import SERVER, Caller
from .links import link_up
from .networks import NetworkShape
from .programs import ANSWERS
from .server_two import check_share
from .service import Service, say_to_stderr
from .trust import trust_of
from .wire import BrokenWire, Message, Wire

IDLE_SECONDS = 300.0
MOST_SESSIONS = 8
MOST_BYTES = 1 << 28


class NodeSession:
    """What a node knows of one session."""

    def __init__(self, owner: Wire, first: Message):
        said = first.said
        self.owner, self.engine = owner, Engine()
        self.own, self.secret = make_session_certificate(), str(said.get("secret"))
        self.rows, self.facts = said.get("rows"), dict[str, Any]()
        self.allowed: queue.Queue[int] = queue.Queue()
        self.port: ReservedPort | None = None
        self.ready, self.ended = threading.Event(), threading.Event()
        self.lock = threading.Lock()


class Node:
    """Keeps the sessions of a node's process."""

    def __init__(
        self,
        keys: Path,
        rank: int,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        seconds: float = 120.0,
        log: Callable[[str], None] = say_to_stderr,
    ):
        self._rank, self._host, self._seconds, self._log = rank, host, seconds, log
        self._sessions: dict[str, NodeSession] = {}
        self._lock = threading.Lock()
        self.service = Service(keys, host, port, self._handle, most_blobs=MOST_BYTES, log=log)

    def _handle(self, wire: Wire, first: Message, caller: Caller) -> None:
        if caller.role == SERVER:
            self._own(wire, first)
        else:
            self._serve_client(wire, first)

    # ---- the model's owner -------------------------------------------------------------------------------------

    def _own(self, wire: Wire, first: Message) -> None:
        identifier = str(first.said.get("session"))
        with self._lock:
            if identifier in self._sessions or len(self._sessions) >= MOST_SESSIONS:
                raise Refused("the node has too many sessions; try again later")
            session = self._sessions[identifier] = NodeSession(wire, first)
        try:
            self._prepare(session, identifier, first)
            session.ready.set()
            while True:
                allowed = wire.receive(seconds=IDLE_SECONDS)
                if allowed.said.get("do") == "bye":
                    return
                session.allowed.put(int(allowed.said.get("allow", 0)))
        finally:
            session.ended.set()
            session.engine.end()
            if session.port is not None:
                session.port.release()
            with self._lock:
                self._sessions.pop(identifier, None)

    def _prepare(self, session: NodeSession, identifier: str, first: Message) -> None:
        """Compile, link up with the peers, and take the share of the weights."""
        said, wire, engine = first.said, session.owner, session.engine
        if said.get("rank") != self._rank:
            raise BadInput(f"this is node {self._rank}, not node {said.get('rank')}")
        config, rows = trust_of("three").config(), session.rows
        if not isinstance(rows, list) or not all(type(n) is int and 1 <= n <= 1000 for n in rows):
            raise BadInput("the sizes of the batches cannot be read")
        if said.get("answer") not in ANSWERS:
            raise BadInput("this kind of answer is not known")
        compiled = engine.ask(
            "compile",
            seconds=self._seconds,
            watch=[wire],
            tell=[wire],
            shape=NetworkShape.from_json(said.get("shape")).to_json(),
            rows=rows,
            answer=said["answer"],
            parties=3,
            config=config,
        ).said
        session.port = ReservedPort(self._host)
        host = f"{self._host}:{session.port.number}"
        session.facts = {**compiled, "config": config}
        wire.send({**session.facts, "certificate": session.own.certificate.decode("ascii"), "host": host})
        go = wire.receive(seconds=self._seconds)
        peers = [str(pem).encode() for pem in go.said["certificates"]]
        folder = engine.session_folder(session.own, [pem for i, pem in enumerate(peers) if i != self._rank])
        hosts = [str(address) for address in go.said["hosts"]]
        hosts[self._rank] = host
        link_up(
            engine, session=identifier, rank=self._rank, hosts=hosts, folder=folder, config=config,
            seconds=self._seconds, watch=[wire], tell=[wire],
        )  # fmt: skip
        session.port.release()
        peers[self._rank] = session.own.certificate
        session.facts["pinned"] = [hashlib.sha256(pem).hexdigest() for pem in peers]
        wire.send({"linked": True})
        weights = wire.receive(seconds=self._seconds)
        engine.ask("put", weights.blobs, seconds=self._seconds, shares=weights.said["weights"])
        engine.ask("run", seconds=self._seconds, watch=[wire], tell=[wire], program="weights")
        engine.forget_folder()
        wire.send({"ready": True})

    # ---- the text's owner --------------------------------------------------------------------------------------

    def _serve_client(self, wire: Wire, first: Message) -> None:
        session = self._sessions.get(str(first.said.get("session")))
        if session is None or not hmac.compare_digest(session.secret, str(first.said.get("secret"))):
            raise Refused("there is no such session")
        if not session.ready.wait(self._seconds):
            raise Refused("the session did not get ready in time")
        wire.send(session.facts)
        while not session.ended.is_set():
            asked = wire.receive(seconds=IDLE_SECONDS)
            if asked.said.get("do") == "bye":
                return
            with session.lock:
                self._run(session, wire, asked)

    def _run(self, session: NodeSession, wire: Wire, asked: Message) -> None:
        rows = asked.said.get("rows")
        check_share(asked)
        try:
            allowed = session.allowed.get(timeout=self._seconds)
        except queue.Empty:
            raise Refused("the owner of the model did not allow this") from None
        if allowed != rows or rows not in session.rows:
            raise Refused("the owner of the model allowed another batch")
        session.engine.ask("put", asked.blobs, seconds=self._seconds, shares=asked.said["shares"])
        answer = session.engine.ask("run", seconds=self._seconds, watch=[wire], tell=[wire], program=f"run {rows}")
        wire.send({"shares": answer.said["shares"]}, answer.blobs)


__all__ = ["BrokenWire", "Node"]
