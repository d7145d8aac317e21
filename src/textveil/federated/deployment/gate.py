"""What the public port lets through: calls of the fleet, signed with a registered key. Nothing else is even read.

Flower's app serves control, runtime and fleet at one port. The gate stands before it as an ASGI app of its own:

    another path than one of the fleet's calls    404
    no signature by a registered key              401, before a byte of the body is read
    a body longer than `most`                     413
    more pushed in a round than an answer may be  413, and the site is noted as oversized

Flower checks signature and node again, now that it knows what the call asks for.
"""

from __future__ import annotations

import threading
from base64 import b64decode
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from datetime import UTC, datetime
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CLOCK = 300  # seconds by which the clocks of a site and the server may differ
MOST = 16 * 2**20  # bytes of one call; Flower cuts arrays into pieces of 5 MiB
PUSHES = ("/push-messages", "/push-object")


class Gate:
    """An ASGI app before another: lets calls of registered sites through."""

    def __init__(self, app: Any, calls: Collection[str], headers: tuple[str, str, str], sites: dict[bytes, str]):
        self._app, self._calls = app, calls
        self._headers = tuple(name.encode("ascii") for name in headers)  # public key, signature, time
        self._sites = sites
        self._lock = threading.Lock()
        self._received: Counter[str] = Counter()
        self._allowance: int | None = None

    def allow(self, most: int) -> None:
        """Begin a round: each site may send so many bytes in it."""
        with self._lock:
            self._received.clear()
            self._allowance = most

    def oversized(self) -> set[str]:
        """The sites that sent more in this round than they may."""
        with self._lock:
            if self._allowance is None:
                return set()
            return {name for name, sent in self._received.items() if sent > self._allowance}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # neither websockets nor start-up hooks of Flower
            return
        if scope["path"] not in self._calls:
            return await answer(send, 404)
        name = self._caller(dict(scope["headers"]))
        if name is None:
            return await answer(send, 401)
        body = await self._read(receive, name if scope["path"].endswith(PUSHES) else None)
        if body is None:
            return await answer(send, 413)
        await self._app(scope, _again(body, receive), send)

    def _caller(self, headers: dict[bytes, bytes]) -> str | None:
        """The registered site that signed this call just now."""
        try:
            key, signature = (b64decode(headers[name], validate=True) for name in self._headers[:2])
            signed = headers[self._headers[2]]
            age = (datetime.now(UTC) - datetime.fromisoformat(signed.decode("ascii"))).total_seconds()
            if key not in self._sites or abs(age) > CLOCK or not is_signed(key, signed, signature):
                return None
        except (KeyError, ValueError, TypeError):
            return None
        return self._sites[key]

    async def _read(self, receive: Receive, pusher: str | None) -> bytes | None:
        """The body of a call, or None if it is too long; what a site pushes is counted."""
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if pusher is not None:
                with self._lock:
                    self._received[pusher] += len(message.get("body", b""))
            if len(body) > MOST or pusher in self.oversized():
                return None
            if not message.get("more_body", False):
                return bytes(body)


def is_signed(key: bytes, content: bytes, signature: bytes) -> bool:
    """Whether `signature` was made with the private half of `key`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    public = load_pem_public_key(key)
    if not isinstance(public, ec.EllipticCurvePublicKey):
        return False
    try:
        public.verify(signature, content, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


async def answer(send: Send, status: int) -> None:
    """An answer without content."""
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def _again(body: bytes, receive: Receive) -> Receive:
    """The receiving end of a call whose body was read already."""
    unread = [body]

    async def receive_again() -> MutableMapping[str, Any]:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return receive_again


__all__ = ["Gate", "answer", "is_signed"]
