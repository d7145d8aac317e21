"""The client's side of a session that three nodes compute: shares to each, and its answer from all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.errors import Refused

from .engine import shares_of
from .keys import NODES
from .server import agreement, check_equal
from .service import call
from .waiting import await_readable
from .wire import Message

if TYPE_CHECKING:
    from .client import Answer, ClassifyClient


def link(client: ClassifyClient) -> None:
    """Agree with the server, then join the session at every node and see what each would compute."""
    client.wire.ask(client.agreed, seconds=client.seconds)
    client.watch = [client.wire]
    public = {name: client.offer.get(name) for name in ("version", "shape", "labels", "inputs")}
    pinned = []
    for rank, address in enumerate(client.nodes):
        first = {"session": client.offer.get("session"), "secret": client.offer.get("secret")}
        node = call(client.keys, address, NODES[rank], first, seconds=client.seconds)
        client.stack.callback(node.close)
        client.watch.append(node)
        facts = node.receive(seconds=client.seconds).said
        check_equal(client.agreed, agreement(public, facts, facts["config"]))
        pinned.append(facts.get("pinned"))
    if pinned[0] is None or any(found != pinned[0] for found in pinned):
        raise Refused("the three nodes are not linked with each other")


def ask(client: ClassifyClient, rows: int, shares: Message) -> list[Answer]:
    """Let the server allow it, give every node its share, and join the shares of the answer."""
    client.wire.ask({"do": "run", "rows": rows}, seconds=client.seconds)
    nodes = client.watch[1:]
    for rank, node in enumerate(nodes):
        theirs, blobs = shares_of(shares, rank)
        node.send({"do": "run", "rows": rows, "shares": theirs}, blobs)
    answers = list[Message]()
    for node in nodes:  # whoever ends is heard at once, not only the one whose turn it is
        others = [wire for wire in client.watch if wire is not node]
        await_readable(node, seconds=client.seconds, watch=others, tell=[client.wire])
        answers.append(node.receive(seconds=client.seconds, tell=[client.wire]))
    return client.joined(answers)


__all__ = ["ask", "link"]
