"""Bob's side: ask a server for the labels of rows that only Bob's engine ever sees in the clear.

    with ClassifyClient(keys, server, "dealer", rows=[100, 37], dealer=...) as client:
        client.offer                       what the server says of itself (public)
        for label, value in client.ask(x): ...

The client compiles the programs itself from the public shape and compares hashes with the server (and with every node)
before an engine links up, so nobody can make its engine compute something else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.core.errors import BadInput, Refused

from . import client_three, client_two
from .engine import Engine, array_blobs
from .networks import NetworkShape
from .server import agreement
from .service import call
from .trust import ENGINE, Trust, trust_of
from .wire import BrokenWire, Message, Wire

SECONDS = 120.0


class Answer(NamedTuple):
    """The class of one row, and its score where one was asked for."""

    label: int
    score: float | None = None


class ClassifyClient:
    """One session with a server."""

    def __init__(
        self,
        keys: Path,
        server: str,
        trust: str,
        *,
        rows: list[int],
        answer: str = "label",
        dealer: str | None = None,
        nodes: tuple[str, ...] = (),
        direct: str | None = None,
        seconds: float = SECONDS,
        said: Callable[[dict[str, Any], Trust], None] = lambda offer, trust: None,
    ):
        self.keys, self.server, self.trust, self.rows = keys, server, trust_of(trust), rows
        self.dealer, self.nodes, self.direct, self.seconds, self.answer = dealer, nodes, direct, seconds, answer
        if trust == "dealer" and dealer is None:
            raise BadInput("trust 'dealer' needs a dealer", possible="--dealer HOST:PORT")
        if trust == "three" and len(nodes) != 3:
            raise BadInput("trust 'three' needs three nodes", possible="--nodes HOST:PORT,HOST:PORT,HOST:PORT")
        self.stack, self.ended, self.watch = ExitStack(), threading.Event(), list[Wire]()
        try:
            self._open(said)
        except BrokenWire as error:
            reason = self._last_words()
            self.close()
            raise Refused(reason) if reason else error from None
        except BaseException:
            self.close()
            raise

    def _open(self, said: Callable[[dict[str, Any], Trust], None]) -> None:
        self.stack.callback(self.ended.set)
        first = {
            "do": "ask",
            "trust": self.trust.name,
            "rows": self.rows,
            "answer": self.answer,
            "engine": ENGINE,
        }
        self.engine = self.stack.enter_context(Engine())
        self.wire: Wire = call(self.keys, self.server, "server", first, seconds=self.seconds)
        self.stack.callback(self.wire.close)
        self.offer = self.wire.receive(seconds=self.seconds).said
        self.shape = NetworkShape.from_json(self.offer.get("shape"))
        said(self.offer, self.trust)
        self.agreed = self._agree()
        (client_three if self.trust.name == "three" else client_two).link(self)

    def _agree(self) -> dict[str, str]:
        """Compile what the offer describes, with the settings that this side thinks right."""
        config = self.trust.config()
        compiled = self.engine.ask(
            "compile",
            seconds=self.seconds,
            watch=[self.wire],
            tell=[self.wire],
            shape=self.shape.to_json(),
            rows=self.rows,
            answer=self.answer,
            parties=self.trust.parties,
            config=config,
        ).said
        public = {name: self.offer.get(name) for name in ("version", "shape", "labels", "inputs")}
        return agreement(public, compiled, config)

    def ask(self, x: NDArray[Any]) -> Iterator[Answer]:
        """The answers of rows, batch by batch, in their order."""
        done = 0
        for size in self.plan(len(x)):
            yield from self.ask_batch(x[done : done + size])
            done += size

    def plan(self, count: int) -> list[int]:
        """Batches of the agreed sizes that make up `count` rows: the largest first."""
        sizes, left = [], count
        for size in sorted(set(self.rows), reverse=True):
            sizes += [size] * (left // size)
            left %= size
        if left:
            raise BadInput(f"{count:,} rows cannot be cut into batches of {', '.join(map(str, self.rows))}")
        return sizes

    def ask_batch(self, x: NDArray[Any]) -> list[Answer]:
        """The answers of one batch of an agreed size."""
        if x.shape[1:] != (self.shape.inputs,) or len(x) not in self.rows:
            raise BadInput(f"a batch of {x.shape} does not fit the agreed shapes")
        names, raw = array_blobs({"x": x})
        shares = self.engine.ask("share", raw, seconds=self.seconds, arrays=names)
        try:
            return (client_three if self.trust.name == "three" else client_two).ask(self, len(x), shares)
        except BrokenWire as error:
            reason = self._last_words()
            raise Refused(reason) if reason else error from None

    def joined(self, parts: list[Message]) -> list[Answer]:
        """The values behind the shares of all parties."""
        names = [name for name, _ in parts[0].said["shares"]]
        blobs, counts = list[bytes](), {name: list[list[int]]() for name in names}
        for part in parts:
            described = dict(part.said["shares"])
            for name in names:
                start, count = described[name]
                counts[name].append([len(blobs), count])
                blobs += part.blobs[start : start + count]
        values = dict(self.engine.ask("join", blobs, seconds=self.seconds, names=names, shares=counts).said["values"])
        labels = [int(label) for label in values["label"]]
        if any(not 0 <= label < self.shape.classes for label in labels):
            raise BadInput("the answer is no class: the two sides did not compute the same")
        if "value" not in values:
            return [Answer(label) for label in labels]
        value = np.asarray(values["value"])
        chances = value if value.ndim == 1 else value[np.arange(len(labels)), labels]
        return [Answer(label, float(chance)) for label, chance in zip(labels, chances, strict=True)]

    def _last_words(self) -> str:
        """The sentence that the server may have sent before it ended."""
        try:
            self.wire.receive(seconds=0.5)
        except Refused as refusal:
            return str(refusal)
        except (BrokenWire, AttributeError):
            pass
        return ""

    def close(self) -> None:
        with suppress(BrokenWire, AttributeError):
            self.wire.send({"do": "bye"}, seconds=1.0)
        self.stack.close()

    def __enter__(self) -> ClassifyClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


__all__ = ["Answer", "ClassifyClient"]
