"""The server's side of a session in which its own engine computes with the client's (trust `dealer` and `two`)."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from textveil.core.errors import Refused

from .certificates import make_session_certificate
from .engine import ReservedPort, array_blobs, shares_of
from .links import dealer_settings, join_dealer, link_up
from .pipes import LOCAL
from .server_pipes import relay_to_client
from .waiting import await_readable
from .wire import BrokenWire, Message, Wire

if TYPE_CHECKING:
    from .server import ClassifyServer, ServerSession

IDLE_SECONDS = 300.0


def run(server: ClassifyServer, session: ServerSession) -> None:
    """Agree, link up, share the weights, then answer until the client leaves."""
    wire = session.wire
    with ExitStack() as stack:
        accepted = server.agree(session)
        watch = _link(server, session, accepted, stack)
        _share_weights(server, session, watch)
        while (asked := _next(wire)) is not None:
            _answer(server, session, asked, watch)


def _link(server: ClassifyServer, session: ServerSession, accepted: Message, stack: ExitStack) -> list[Wire]:
    """Engines that know each other's certificate; the connections to watch while they compute."""
    own, wire = make_session_certificate(), session.wire
    folder = session.engine.session_folder(own, [str(accepted.said.get("certificate", "")).encode()])
    config, watch = server.trust.config(), [wire]
    if server.trust.name == "dealer":
        assert server.dealer is not None
        dealer = join_dealer(server.keys, server.dealer, session.identifier, own, server.limits.seconds)
        stack.callback(dealer.close)
        watch.append(dealer)
    theirs = accepted.said.get("host")
    is_direct = server.direct is not None and isinstance(theirs, str)
    here = server.direct if is_direct and server.direct else LOCAL
    port = ReservedPort(here)
    stack.callback(port.release)
    session.engine_port = port.number
    if not is_direct:
        relay = relay_to_client(session)
        stack.callback(relay.close)
        theirs = f"{LOCAL}:{relay.port}"
    mine = f"{here}:{session.engine_port}"
    wire.send({"certificate": own.certificate.decode("ascii"), "host": mine if is_direct else None})
    if server.trust.name == "dealer":
        assert server.dealer is not None
        await_readable(watch[1], seconds=server.limits.seconds, watch=watch[:1])
        config |= dealer_settings(watch[1].receive(seconds=server.limits.seconds), server.dealer, folder)
    link_up(
        session.engine,
        session=session.identifier,
        rank=0,
        hosts=[mine, str(theirs)],
        folder=folder,
        config=config,
        seconds=server.limits.seconds,
        watch=watch,
        tell=[wire],
    )
    port.release()
    return watch


def _share_weights(server: ClassifyServer, session: ServerSession, watch: list[Wire]) -> None:
    """Once a session: shares for both, and the matrices into the engines' cache."""
    arrays = {name: server.classifier.arrays[name] for name in server.classifier.shape.arrays()}
    names, raw = array_blobs(arrays)
    seconds = server.limits.seconds
    shares = session.engine.ask("share", raw, seconds=seconds, arrays=names)
    mine, my_blobs = shares_of(shares, 0)
    theirs, their_blobs = shares_of(shares, 1)
    session.engine.ask("put", my_blobs, seconds=seconds, shares=mine)
    session.wire.send({"weights": theirs}, their_blobs)
    session.engine.ask("run", seconds=seconds, watch=watch, tell=watch[:1], program="weights")
    session.engine.forget_folder()  # the engine has called its dealer: it has read all its certificates


def _next(wire: Wire) -> Message | None:
    """The next request; None when the client has left."""
    asked = wire.receive(seconds=IDLE_SECONDS)
    return None if asked.said.get("do") == "bye" else asked


def _answer(server: ClassifyServer, session: ServerSession, asked: Message, watch: list[Wire]) -> None:
    rows = asked.said.get("rows")
    if asked.said.get("do") != "run" or rows not in session.rows:
        raise Refused("the server takes batches of the agreed sizes only")
    check_share(asked)
    server.quota.take(session.caller.name, rows)
    seconds = server.limits.seconds
    session.engine.ask("put", asked.blobs, seconds=seconds, shares=asked.said["shares"])
    session.wire.send({"started": True})
    answer = session.engine.ask("run", seconds=seconds, watch=watch, tell=watch[:1], program=f"run {rows}")
    session.wire.send({"shares": answer.said["shares"]}, answer.blobs)


def check_share(asked: Message) -> None:
    """Refuse what is no share of the input."""
    shares = asked.said.get("shares")
    is_share = isinstance(shares, list) and len(shares) == 1 and isinstance(shares[0], list) and len(shares[0]) == 2
    if not is_share or shares[0] != ["x", [0, len(asked.blobs)]] or len(asked.blobs) < 2:
        raise Refused("the server was sent something that is no share of a text")


__all__ = ["BrokenWire", "check_share", "run"]
