"""The engine's dealer service over HTTPS, for one session: POST .../BeaverService/AdjustX with a JSON body, a chunked answer.

The answer is a row of parts, each with a flag (0: numbers, else an error code), its length in 8 bytes, and its bytes. The
listener trusts one certificate, that of the session's first party, and has a port of its own.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import os
import socket
import ssl
import struct
import tempfile
import threading
from typing import Any

from textveil.core.errors import BadInput, Refused, TextveilError

from .certificates import Certificate, make_session_certificate
from .dealer_book import CounterBook, Drawn
from .dealing import BLOCK, OPERATIONS, WIDTHS, Request, stream
from .sm2 import Sm2Key

MOST_HEADER, MOST_BODY, MOST_NUMBERS = 16_384, 65_536, 1 << 28
_OP_ERROR = 1
HANDSHAKE_SECONDS, IDLE_SECONDS = 30.0, 600.0


class DealerSession:
    """A key, a book, and a listener that answers the calls of the first party until `close`."""

    def __init__(self, host: str, port: int, first_party: bytes):
        self.key, self._book, self._seeds = Sm2Key(), CounterBook(), dict[str, bytes]()
        self.certificate: Certificate = make_session_certificate()
        self.calls = self.bytes_in = self.bytes_out = 0
        self._lock, self._closed = threading.Lock(), False
        self._connections: set[socket.socket] = set()
        self._context = _context(self.certificate, first_party)
        self._listener = socket.create_server((host, port), backlog=16)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """End all connections; the key is forgotten with the session."""
        self._closed = True
        for connection in [self._listener, *self._connections]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    # ---- connections -------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        raw.settimeout(HANDSHAKE_SECONDS)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection = self._context.wrap_socket(raw, server_side=True)
        except (OSError, ValueError):
            raw.close()
            return
        self._connections.add(connection)
        try:
            connection.settimeout(IDLE_SECONDS)
            buffered = b""
            while not self._closed:
                head, buffered = _read_until(connection, buffered, b"\r\n\r\n", MOST_HEADER)
                path, size = _request_line(head)
                body, buffered = _read_count(connection, buffered, size)
                answer = self._answer(path, body)
                with self._lock:
                    self.calls += 1
                    self.bytes_in += len(head) + len(body)
                    self.bytes_out += len(answer)
                connection.sendall(answer)
        except (OSError, ValueError, TextveilError):
            pass
        finally:
            self._connections.discard(connection)
            connection.close()

    def _answer(self, path: str, body: bytes) -> bytes:
        try:
            parts = [(0, numbers) for numbers in self.deal(path.rpartition("/")[2], _parsed(body))]
        except TextveilError as error:
            parts = [(_OP_ERROR, str(error).encode())]
        payload = b"".join(struct.pack("<Bq", flag, len(raw)) + raw for flag, raw in parts)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        return head + f"{len(payload):x}".encode() + b"\r\n" + payload + b"\r\n0\r\n\r\n"

    # ---- one call ----------------------------------------------------------------------------------------------

    def deal(self, name: str, call: dict[str, Any]) -> list[bytes]:
        """The corrections of one call, or one sentence why not."""
        if (operation := OPERATIONS.get(name)) is None:
            raise Refused("the dealer does not know this kind of numbers")
        inputs = call.get("prg_inputs")
        if not isinstance(inputs, list) or len(inputs) != operation.arrays:
            raise BadInput("the dealer was given a call that it cannot read")
        if name != "AdjustAnd" and (call.get("field_size") not in WIDTHS or call.get("element_type")):
            raise Refused("the dealer deals numbers of 32 or 64 bits only")
        arrays = [_drawn(given) for given in inputs]
        request = _request(name, call, arrays)
        with self._lock:
            for given in inputs:
                seeds = self._opened(given)
                self._book.check_seeds(seeds)
            self._book.check_and_note(operation, arrays, repeatable=name in ("AdjustDot", "AdjustMul"))
        pad = BLOCK if name == "AdjustAnd" else request.width
        shares = [[stream(seed, a.counter, -(-a.size // pad) * pad) for seed in seeds] for a in arrays]
        size = arrays[-1].size
        return [numbers[:size] for numbers in operation.run(shares, request)]

    def _opened(self, given: dict[str, Any]) -> list[bytes]:
        listed = given.get("encrypted_seeds")
        if not isinstance(listed, list) or len(listed) != 2 or not all(isinstance(text, str) for text in listed):
            raise BadInput("the dealer needs the seeds of two parties")
        return [self._decrypted(text) for text in listed]

    def _decrypted(self, text: str) -> bytes:
        if text not in self._seeds:
            if len(self._seeds) >= 2:
                raise Refused("the dealer was given other seeds than those of the session")
            try:
                seed = self.key.decrypt(base64.b64decode(text, validate=True))
            except (binascii.Error, ValueError):
                raise BadInput("the dealer was given a seed that it cannot read") from None
            if len(seed) != BLOCK:
                raise BadInput("the dealer was given a seed of another length")
            self._seeds[text] = seed
        return self._seeds[text]


def _context(own: Certificate, trusted: bytes) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:  # load_cert_chain reads files only
        for name, pem in (("cert", own.certificate), ("key", own.key)):
            handle = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(pem)
        made.load_cert_chain(os.path.join(folder, "cert"), os.path.join(folder, "key"))
    made.verify_mode = ssl.CERT_REQUIRED
    try:
        made.load_verify_locations(cadata=trusted.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise BadInput("the first party sent no certificate") from None
    return made


def _read_until(connection: socket.socket, buffered: bytes, mark: bytes, most: int) -> tuple[bytes, bytes]:
    while mark not in buffered:
        if len(buffered) > most:
            raise ValueError("a header is too long")
        piece = connection.recv(65_536)
        if not piece:
            raise ValueError("the connection ended")
        buffered += piece
    head, _, rest = buffered.partition(mark)
    return head, rest


def _read_count(connection: socket.socket, buffered: bytes, count: int) -> tuple[bytes, bytes]:
    parts, length = [buffered], len(buffered)
    while length < count:
        piece = connection.recv(65_536)
        if not piece:
            raise ValueError("the connection ended")
        parts.append(piece)
        length += len(piece)
    whole = b"".join(parts)
    return whole[:count], whole[count:]


def _request_line(head: bytes) -> tuple[str, int]:
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    sizes = [line.partition(":")[2] for line in rest if line.lower().startswith("content-length:")]
    size = int(sizes[0]) if len(sizes) == 1 else -1
    if method != "POST" or not 0 <= size <= MOST_BODY:
        raise ValueError("no call of the dealer")
    return path, size


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput("the dealer was given a call that it cannot read") from None
    if not isinstance(call, dict):
        raise BadInput("the dealer was given a call that it cannot read")
    return call


def _drawn(given: Any) -> Drawn:
    """Where an array begins and how long it is; numbers may come as strings, and a 0 is left out."""
    try:
        drawn = Drawn(int(given.get("prg_count", 0)), int(given["buffer_len"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadInput("the dealer was given a call that it cannot read") from None
    if not (0 <= drawn.counter < 1 << 62 and 0 < drawn.size <= MOST_NUMBERS):
        raise BadInput("the dealer was asked for too many numbers")
    return drawn


def _request(name: str, call: dict[str, Any], arrays: list[Drawn]) -> Request:
    """The public parts of a call, after the lengths of its arrays were found to fit."""
    try:
        bits, m, n, k = (int(call.get(key, 0)) for key in ("bits", "M", "N", "K"))
        flags = tuple(bool(flag) for flag in call.get("transpose_inputs", (False,) * 3))
    except (TypeError, ValueError):
        raise BadInput("the dealer was given a call that it cannot read") from None
    sizes, width = [drawn.size for drawn in arrays], 8 if name == "AdjustAnd" else int(call["field_size"])
    if name == "AdjustDot":
        fits = len(flags) == 3 and not flags[2] and min(m, n, k) > 0 and width == 8
        fits = fits and sizes == [width * m * k, width * k * n, width * m * n]
    else:
        fits = len(set(sizes)) == 1 and (name == "AdjustAnd" or sizes[0] % width == 0)
    if not fits or not 0 <= bits < 8 * width - 1:
        raise BadInput("the dealer was given arrays whose sizes do not fit")
    return Request(width, bits, m, n, k, flags)


__all__ = ["DealerSession"]
