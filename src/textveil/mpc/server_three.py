"""The server's side of a session that three nodes compute: open it, share the weights, allow each batch."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from textveil.core.errors import Refused

from .engine import array_blobs, shares_of
from .keys import NODES
from .server_two import IDLE_SECONDS
from .service import call
from .waiting import await_readable
from .wire import Message, Wire

if TYPE_CHECKING:
    from .server import ClassifyServer, ServerSession


def run(server: ClassifyServer, session: ServerSession) -> None:
    """Agree with the client, open the nodes, then allow batches until the client leaves."""
    with ExitStack() as stack:
        server.agree(session)
        nodes = _opened(server, session, stack)
        _share_weights(server, session, nodes)
        session.wire.send({"ready": True})
        while True:
            asked = session.wire.receive(seconds=IDLE_SECONDS, tell=nodes)
            if asked.said.get("do") == "bye":
                break
            if asked.said.get("do") != "run" or asked.said.get("rows") not in session.rows:
                raise Refused("the server takes batches of the agreed sizes only")
            server.quota.take(session.caller.name, asked.said["rows"])
            for node in nodes:
                node.send({"allow": asked.said["rows"]})
            session.wire.send({"started": True})
        for node in nodes:
            node.send({"do": "bye"})


def _opened(server: ClassifyServer, session: ServerSession, stack: ExitStack) -> list[Wire]:
    """All three nodes, linked with each other."""
    nodes = list[Wire]()
    for rank, address in enumerate(server.nodes):
        first = {
            "session": session.identifier,
            "secret": session.secret,
            "rank": rank,
            "shape": server.classifier.shape.to_json(),
            "rows": session.rows,
            "answer": session.answer,
        }
        nodes.append(call(server.keys, address, NODES[rank], first, seconds=server.limits.seconds))
        stack.callback(nodes[-1].close)
    opened = _all(nodes, server, session)
    known: dict[str, Any] = {
        "certificates": [str(node.said.get("certificate")) for node in opened],
        "hosts": [str(node.said.get("host")) for node in opened],
    }
    for node in nodes:
        node.send(known)
    _all(nodes, server, session)
    return nodes


def _share_weights(server: ClassifyServer, session: ServerSession, nodes: list[Wire]) -> None:
    names, raw = array_blobs({name: server.classifier.arrays[name] for name in server.classifier.shape.arrays()})
    shares = session.engine.ask("share", raw, seconds=server.limits.seconds, arrays=names)
    for rank, node in enumerate(nodes):
        theirs, blobs = shares_of(shares, rank)
        node.send({"weights": theirs}, blobs)
    _all(nodes, server, session)


def _all(nodes: list[Wire], server: ClassifyServer, session: ServerSession) -> list[Message]:
    """An answer of each node. Whoever waits for all of them hears that it goes on: the client, and nodes that were quick."""
    answers, seconds = list[Message](), server.limits.seconds
    for node in nodes:
        others = [session.wire, *(other for other in nodes if other is not node)]
        await_readable(node, seconds=seconds, watch=others, tell=others)
        answers.append(node.receive(seconds=seconds, tell=others))
    return answers


__all__ = ["run"]
