"""Lines that hold on to each other: each carries the hash of the one before it.

    hash_k = SHA-256( JSON [hash_{k-1}, k, created, kind, body, note] )

An altered line no longer hashes to its record, a removed or moved one breaks the numbering and the links, and a cut tail
disagrees with the head (count and last hash) that is kept beside the lines. What a chain cannot show by itself is a file
that was rewritten as a whole, consistently, or put back from an older copy: for that, keep a head elsewhere (a release, a
printout, a mail) and check against it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from textveil.core.errors import BadInput, BrokenChain

START = "0" * 64  # what the first line follows


@dataclass(frozen=True)
class Line:
    """One line of a ledger as it stands in the file."""

    number: int
    created: str
    kind: str  # opened, budget, data or charge
    body: str  # JSON
    note: str
    previous: str
    hash: str

    @property
    def id(self) -> str:
        """Short name of the line; cards print it."""
        return self.hash[:16]

    @property
    def values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self.body)
        return values

    def to_json(self) -> dict[str, Any]:
        shown = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"id": self.id, **shown, "body": self.values}


@dataclass(frozen=True)
class Head:
    """How many lines there are and the hash of the last one: the anchor to keep outside of the file.

    >>> Head.parse("2:" + "ab" * 32).count
    2
    """

    count: int = 0
    hash: str = START

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        count, _, digest = str(text).strip().partition(":")
        if not (count.isascii() and count.isdigit() and len(digest) == 64):
            raise BadInput("a head is written as count:hash", possible="what `textveil ledger export` prints as head")
        return cls(int(count), digest.lower())


def next_line(head: Head, created: str, kind: str, body: dict[str, Any], note: str = "") -> Line:
    """The line that follows a head.

    >>> first = next_line(Head(), "2025-01-01T00:00:00+00:00", "opened", {})
    >>> check([first], Head(1, first.hash), "notes")
    """
    number, text = head.count + 1, compact(body)
    return Line(number, created, kind, text, note, head.hash, _hash(head.hash, number, created, kind, text, note))


def compact(body: dict[str, Any]) -> str:
    """JSON in one fixed form."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def check(
    lines: Iterable[Line], head: Head, name: str, anchor: Head | None = None, *, after: Head | None = None
) -> None:
    """Raise BrokenChain, naming the first line that does not hold; `after` is where lines that were checked before end."""
    last = Head() if after is None else after
    for line in _checked(lines, name, last):
        last = Head(line.number, line.hash)
        if anchor is not None and anchor.count == line.number and anchor.hash != line.hash:
            raise BrokenChain(f"ledger '{name}' was rewritten: line {line.number} is not the one of the given head")
    if last != head:
        raise BrokenChain(
            f"ledger '{name}' recorded {head.count} lines and has {last.count}: line {last.count + 1} was removed"
            if last.count < head.count
            else f"ledger '{name}': line {last.count} is not the last line that was recorded"
        )
    if anchor is not None and anchor.count > last.count:
        raise BrokenChain(
            f"ledger '{name}' has {last.count} lines and the given head {anchor.count}: line {last.count + 1} was removed"
        )


def _checked(lines: Iterable[Line], name: str, after: Head) -> Iterator[Line]:
    expected, previous = after.count + 1, after.hash
    for line in lines:
        if line.number != expected:
            raise BrokenChain(f"ledger '{name}': line {expected} was removed or moved")
        if line.previous != previous:
            raise BrokenChain(
                f"ledger '{name}': line {expected} was altered or moved (it does not follow the one before)"
            )
        if line.hash != _hash(previous, line.number, line.created, line.kind, line.body, line.note):
            raise BrokenChain(f"ledger '{name}': line {expected} was altered")
        expected, previous = expected + 1, line.hash
        yield line


def _hash(previous: str, number: int, created: str, kind: str, body: str, note: str) -> str:
    text = json.dumps([previous, number, created, kind, body, note], default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
