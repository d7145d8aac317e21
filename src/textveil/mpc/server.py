"""Alice's server: a control channel over TLS, a session with its own engine for every client that asks.

    client   ask: trust, rows of each program, whether a score is wanted
    server   offer: session, version, shape, labels, encoder, engine settings, trust in words
    client   accept: hashes of its programs and settings, its session's certificate
    server   go: its own certificate (all hashes were equal), or one sentence why not
    ...      the engines connect; weights are shared and cached once
    client   run N, with the server's share of N rows      server   its share of the answers

Nothing links up before model version, programs, settings and shapes were compared: other fixed-point bits would give wrong
labels without any error, another program would crash. The server's share of an answer goes to the client and to nobody else.
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput, Refused, TextveilError

from . import server_pipes, server_three, server_two
from .engine import Engine, EngineFailed
from .keys import Caller
from .model_folder import Classifier
from .programs import ANSWERS
from .quota import Quota
from .service import Service, say_to_stderr
from .trust import ENGINE, digest, trust_of
from .wire import BrokenWire, Message, Wire

MOST_ROWS = 1000
IDLE_SECONDS = 300.0


@dataclass(frozen=True)
class Limits:
    """What a server allows. `seconds` is the deadline of one step of the engine."""

    most_rows: int = MOST_ROWS  # of one program
    most_sessions: int = 8
    seconds: float = 120.0
    score: bool = False  # whether clients may ask for scores


@dataclass
class ServerSession:
    """One client's session."""

    identifier: str
    secret: str
    caller: Caller
    wire: Wire
    engine: Engine
    rows: list[int]
    answer: str
    engine_port: int = 0
    spares: queue.Queue[server_pipes.Spare] = field(default_factory=queue.Queue)
    ended: threading.Event = field(default_factory=threading.Event)


class ClassifyServer:
    """Serves one classifier under one model of trust."""

    def __init__(
        self,
        keys: Path,
        classifier: Classifier,
        trust: str,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        dealer: str | None = None,
        nodes: tuple[str, ...] = (),
        quota: Quota | None = None,
        limits: Limits | None = None,
        direct: str | None = None,
        log: Callable[[str], None] = say_to_stderr,
    ):
        self.keys, self.classifier, self.trust = keys, classifier, trust_of(trust)
        self.dealer, self.nodes, self.direct, self.log = dealer, nodes, direct, log
        if trust == "dealer" and dealer is None:
            raise BadInput("trust 'dealer' needs a dealer", possible="--dealer HOST:PORT")
        if trust == "three" and len(nodes) != 3:
            raise BadInput("trust 'three' needs three nodes", possible="--nodes HOST:PORT,HOST:PORT,HOST:PORT")
        self.quota = quota or Quota(None, budget=None, per_minute=None)
        self.limits = limits or Limits()
        self.sessions: dict[str, Any] = {}
        self._lock = threading.Lock()
        most = self.limits.most_rows * classifier.shape.inputs * 8 + (1 << 16)
        self.service = Service(keys, host, port, self._handle, most_blobs=most, log=log)

    def _handle(self, wire: Wire, first: Message, caller: Caller) -> None:
        if caller.role != "client":
            raise Refused("only clients may ask")
        if first.said.get("do") == "facts":
            wire.send(self.classifier.public())
            return
        if first.said.get("do") == "pipe":
            server_pipes.serve_pipe(self.sessions, wire, first, caller)
            return
        session = self._opened(wire, first, caller)
        try:
            self.log(f"{caller.name}: session, {sum(session.rows):,} texts at most")
            run = server_three.run if self.trust.name == "three" else server_two.run
            run(self, session)
            self.log(f"{caller.name}: done")
        except EngineFailed as error:
            self.log(f"{caller.name}: {error}")
            raise Refused(f"the server gave up: {error}") from None
        except (BrokenWire, TextveilError) as error:
            self.log(f"{caller.name}: {error}")
            raise
        finally:
            session.ended.set()
            session.engine.end()
            with self._lock:
                self.sessions.pop(session.identifier, None)

    def _opened(self, wire: Wire, first: Message, caller: Caller) -> ServerSession:
        rows, answer = self._checked(first.said)
        self.quota.check(caller.name, sum(rows))
        with self._lock:
            if len(self.sessions) >= self.limits.most_sessions:
                raise Refused("the server has too many sessions; try again later")
            identifier = secrets.token_hex(16)
            self.sessions[identifier] = None
        try:
            session = ServerSession(identifier, secrets.token_hex(16), caller, wire, Engine(), rows, answer)
        except BaseException:
            self.sessions.pop(identifier, None)
            raise
        self.sessions[identifier] = session
        return session

    def _checked(self, said: dict[str, Any]) -> tuple[list[int], str]:
        rows, answer = said.get("rows"), said.get("answer")
        if said.get("do") != "ask" or said.get("trust") != self.trust.name:
            raise Refused(f"this server computes with trust '{self.trust.name}'")
        if said.get("engine") != ENGINE:
            raise Refused(f"this server computes with {ENGINE}")
        most = self.limits.most_rows
        if (
            not isinstance(rows, list)
            or not 1 <= len(rows) <= 4
            or not all(type(n) is int and 1 <= n <= most for n in rows)
        ):
            raise Refused(f"a batch has 1 to {most:,} texts")
        if answer not in ANSWERS or (answer == "score" and not self.limits.score):
            raise Refused("this server gives labels only")
        return rows, answer

    # ---- what both ways of computing share -----------------------------------------------------------------------

    def agree(self, session: ServerSession, **more: Any) -> Message:
        """Offer, and compare what the client would compute; its acceptance."""
        config = self.trust.config()
        session.wire.send(
            {
                "session": session.identifier,
                "secret": session.secret,
                "trust": self.trust.name,
                "config": config,
                **self.classifier.public(),
                **more,
            }
        )
        compiled = session.engine.ask(
            "compile",
            seconds=self.limits.seconds,
            watch=[session.wire],
            tell=[session.wire],
            shape=self.classifier.shape.to_json(),
            rows=session.rows,
            answer=session.answer,
            parties=self.trust.parties,
            config=config,
        ).said
        accepted = session.wire.receive(seconds=self.limits.seconds)
        check_equal(accepted.said, self.agreed(compiled, config))
        return accepted

    def agreed(self, compiled: dict[str, Any], config: dict[str, Any]) -> dict[str, str]:
        """What has to be equal, by hash."""
        return agreement(self.classifier.public(), compiled, config)


def agreement(public: dict[str, Any], compiled: dict[str, Any], config: dict[str, Any]) -> dict[str, str]:
    """Hashes of everything that both sides must have in common before an engine links up."""
    return {
        "model": str(public["version"]),
        "shapes": digest([public["shape"], public["labels"], public["inputs"]]),
        "program": digest(compiled["programs"]),
        "engine": digest(compiled["engine"]),
        "settings": digest(config),
    }


def check_equal(theirs: dict[str, Any], ours: dict[str, str]) -> None:
    """Refuse what differs, by name."""
    different = [name for name, value in ours.items() if theirs.get(name) != value]
    if different:
        raise Refused(f"the two sides do not compute the same: different {' and '.join(different)}")


__all__ = ["ClassifyServer", "Limits", "ServerSession", "agreement", "check_equal"]
