"""Messages between processes: one JSON object and blobs of bytes, with limits on both.

    4 bytes   length of the JSON part, big-endian
    JSON      the message; "blobs" lists the length of each blob
    blobs     raw bytes, one after another

Nothing that arrives is ever unpickled or evaluated: JSON is parsed, arrays come as raw numbers of a declared shape. A
message that is too long, cut off or no JSON raises `BrokenWire`; a peer's refusal arrives as {"error": sentence}. A peer that
is still at work says {"alive": true}: nobody but `receive` and `hear` sees that (see `waiting`).
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from textveil.core.errors import BadInput, Refused

MOST_JSON = 1 << 20
MOST_BLOBS = 1 << 28
PATIENCE = 30  # deadlines that a peer with signs of life may take
_ALIVE = {"alive": True}
_MOST_EARLY = 4  # messages that may come before their time
_LONGEST_SENTENCE = 400


class BrokenWire(BadInput):
    """The peer is gone, too slow, or does not speak this protocol."""


class Message(NamedTuple):
    """What one side said."""

    said: dict[str, Any]
    blobs: list[bytes]


class Wire:
    """A socket that speaks in messages. `peer` names the other side in error sentences."""

    def __init__(self, connection: socket.socket, peer: str, *, most_blobs: int = MOST_BLOBS):
        self.socket, self.peer, self._most_blobs = connection, peer, most_blobs
        self.bytes_sent = self.bytes_received = 0
        self._early: deque[Message] = deque()

    def send(self, said: Mapping[str, Any], blobs: Sequence[bytes] = (), *, seconds: float = 30.0) -> None:
        raw = json.dumps({**said, "blobs": [len(blob) for blob in blobs]}, allow_nan=False).encode()
        payload = b"".join([struct.pack(">I", len(raw)), raw, *blobs])
        self.socket.settimeout(seconds)
        try:
            self.socket.sendall(payload)
        except (OSError, ValueError):
            raise BrokenWire(f"{self.peer} ended the connection") from None
        self.bytes_sent += len(payload)

    def receive(self, *, seconds: float, tell: Sequence[Wire] = ()) -> Message:
        """The next message; a refusal of the peer is raised as `Refused` with its sentence.

        `seconds` count from the peer's last sign of life, which is passed on to `tell`.
        """
        if self._early:
            return self._early.popleft()
        end = time.monotonic() + PATIENCE * seconds
        while (message := self._next(min(end, time.monotonic() + seconds))).said == _ALIVE:
            for other in tell:
                other.beat()
        return message

    def beat(self) -> None:
        """Tell the peer that its answer is being worked on."""
        self.send(_ALIVE, seconds=10.0)

    def hear(self, *, seconds: float) -> bool:
        """Read one message: True for a sign of life. Any other is kept for `receive`; a refusal or a farewell is raised."""
        message = self._next(time.monotonic() + seconds)
        if message.said == _ALIVE:
            return True
        if message.said.get("do") == "bye" or len(self._early) >= _MOST_EARLY:
            raise BrokenWire(f"{self.peer} broke off")
        self._early.append(message)
        return False

    @property
    def has_early(self) -> bool:
        """Whether a message waits that came before its time."""
        return bool(self._early)

    def _next(self, deadline: float) -> Message:
        size = struct.unpack(">I", self._read(4, deadline))[0]
        if size > MOST_JSON:
            raise BrokenWire(f"{self.peer} sent a message that is too long")
        raw = self._read(size, deadline)  # outside: that nobody answers in time is a ValueError too
        try:
            said = json.loads(raw)
            sizes = said.pop("blobs")
            is_listed = isinstance(sizes, list) and all(type(n) is int and n >= 0 for n in sizes)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise BrokenWire(f"{self.peer} sent something that is no message") from None
        if not is_listed:
            raise BrokenWire(f"{self.peer} sent something that is no message")
        if sum(sizes) > self._most_blobs:
            raise BrokenWire(f"{self.peer} sent {sum(sizes):,} bytes; at most {self._most_blobs:,} are taken")
        blobs = [self._read(n, deadline) for n in sizes]
        if "error" in said:
            raise Refused(one_sentence(str(said["error"])))
        return Message(said, blobs)

    def ask(self, said: Mapping[str, Any], blobs: Sequence[bytes] = (), *, seconds: float) -> Message:
        """Send, and wait for the answer."""
        self.send(said, blobs, seconds=seconds)
        return self.receive(seconds=seconds)

    def refuse(self, sentence: str) -> None:
        """Tell the peer why this ends; a peer that is gone need not hear it."""
        with contextlib.suppress(BrokenWire):
            self.send({"error": one_sentence(sentence)}, seconds=2.0)

    def is_readable(self, seconds: float) -> bool:
        """Whether something arrives within so long: a message, or the end of the connection."""
        try:
            return bool(select.select([self.socket], [], [], seconds)[0])
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.close()

    def _read(self, count: int, deadline: float) -> bytes:
        parts, left = bytearray(), count
        while left:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise BrokenWire(f"{self.peer} did not answer in time")
            self.socket.settimeout(seconds)
            try:
                piece = self.socket.recv(min(left, 1 << 18))
            except TimeoutError:
                raise BrokenWire(f"{self.peer} did not answer in time") from None
            except (OSError, ValueError):
                raise BrokenWire(f"{self.peer} ended the connection") from None
            if not piece:
                raise BrokenWire(f"{self.peer} ended the connection")
            parts += piece
            left -= len(piece)
        self.bytes_received += count
        return bytes(parts)


def one_sentence(text: str) -> str:
    """A sentence of a peer as it may be shown: one printable line of bounded length.

    >>> one_sentence("no\\x1b[31m\\nmore")
    'no?[31m?more'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_LONGEST_SENTENCE])


__all__ = ["BrokenWire", "Message", "Wire", "one_sentence"]
