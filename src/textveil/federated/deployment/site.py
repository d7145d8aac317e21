"""A site's side of a federation, so it is itself imported late: joins a server, answers its messages, ends when it is over.

A site opens no port and runs no code that the server sends: messages go to the ClientApp that its own command made. What
goes wrong there stays there. The server hears a number, never the words of an exception, which may quote private text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from textveil.core import BadInput

from .certificates import check_server
from .fleet import OVER
from .flower import SiteKey, connected, knock, refusal
from .keys import read_file, read_site_key
from .listener import require_address, written
from .logs import log_to

PAUSE = 0.5  # seconds between two looks for a message
CALLING = 1.0  # seconds between two calls to a server that is not there yet


class Step(Enum):
    """What became of a message."""

    ANSWERED = "answered"
    FAILED = "failed"
    OVER = "over"


Heard = Callable[[Step, Exception | None], None]  # told of each message; what it raises ends the site's part


@dataclass(frozen=True)
class SiteSettings:
    """Which server a site joins, and how each knows the other."""

    server: str
    ca: Path
    key: Path
    patience: float = 600.0  # seconds that a server may be away
    log: Path | None = None
    node_config: Mapping[str, Any] = field(default_factory=dict)


def join_fleet(settings: SiteSettings, app: ClientApp, *, ready: Callable[[], None], heard: Heard) -> None:
    """Answer the messages of a server with `app` until it says that it is over."""
    host, port = require_address(settings.server)
    address, ca = written(host, port), read_file(settings.ca)
    key = SiteKey(read_site_key(settings.key))
    log_to(settings.log)
    _call(host, port, settings)
    if not knock(address, ca, key):
        raise BadInput(
            f"the server at {address} does not know this key",
            where=settings.key,
            possible=f"its public half in the server's folder of sites ({settings.key.stem}.pub)",
        )
    ends: list[Exception | None] = []
    try:
        _answer_all(address, ca, key, settings, app, ready, heard, ends)
    except SystemExit:  # Flower's way to say that the first call failed
        raise BadInput(f"the server at {address} broke off the connection", possible="join again") from None
    if not ends:
        raise BadInput(
            f"the server at {address} has not answered for {settings.patience:g} seconds", possible="join again"
        )
    if ends[0] is not None:
        raise ends[0]


def _call(host: str, port: int, settings: SiteSettings) -> None:
    """Wait until the server answers, and see that it is the right one."""
    end = time.monotonic() + settings.patience
    while not check_server(host, port, settings.ca):
        if time.monotonic() > end:
            raise BadInput(f"nobody answered at {written(host, port)} for {settings.patience:g} seconds")
        time.sleep(CALLING)


def _answer_all(
    address: str,
    ca: bytes,
    key: SiteKey,
    settings: SiteSettings,
    app: ClientApp,
    ready: Callable[[], None],
    heard: Heard,
    ends: list[Exception | None],
) -> None:
    """Answer until it is over. `ends` says how it ended (None: well); Flower's connection swallows exceptions, and an
    empty list says that the server went away."""
    with connected(address, ca, key, settings.node_config, settings.patience) as node:
        ready()
        while not ends:
            pulled = node.pull()
            if pulled is None:
                time.sleep(PAUSE)
                continue
            reply, step, error = answer(app, *pulled)
            node.push(reply)
            try:
                heard(step, error)
            except Exception as reason:
                ends.append(reason)
            if step is Step.OVER:
                ends.append(None)


def answer(app: ClientApp, message: Message, context: Context) -> tuple[Message, Step, Exception | None]:
    """The reply to a message; what goes wrong is told here, and is a number to the server."""
    if message.metadata.message_type == OVER:
        return Message(RecordDict(), reply_to=message), Step.OVER, None
    try:
        return app(message, context), Step.ANSWERED, None
    except Exception as error:
        return refusal(message), Step.FAILED, error


__all__ = ["SiteSettings", "Step", "answer", "join_fleet"]
