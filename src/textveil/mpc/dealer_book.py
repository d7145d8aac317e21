"""What the dealer remembers of a session, so that no caller can use it as an oracle.

The caller (the first party) names both parties' seeds, by their ciphertext, and the counters of all arrays. Without a
memory it could learn the other party's secret numbers: ask for the same masks twice with other operands and subtract, pair
the other's seed with a second one of its own, or name a mask as an operand.

    seeds      the first call fixes the pair; they are two different ones, and every later call has to name them
    masks      are fresh: they begin behind everything that was named before
    operands   are fresh, or repeat an operand of an earlier product exactly (the engine's cached weights)

Claim. The second party's share of every mask is then used once, so every correction is uniform to the caller (`dealing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textveil.core.errors import Refused

from .dealing import Operation, blocks_of

MOST_REPEATED = 64  # operands that may be named again: those of the first products, where the weights come


class Drawn(NamedTuple):
    """One array of a call: where it begins, and how many bytes it has."""

    counter: int
    size: int

    @property
    def end(self) -> int:
        return self.counter + blocks_of(self.size)


class CounterBook:
    """The memory of one session.

    >>> from textveil.mpc.dealing import OPERATIONS
    >>> book, mul = CounterBook(), OPERATIONS["AdjustMul"]
    >>> book.check_and_note(mul, [Drawn(0, 16), Drawn(1, 16), Drawn(2, 16)])
    >>> book.check_and_note(mul, [Drawn(0, 16), Drawn(3, 16), Drawn(4, 16)])
    Traceback (most recent call last):
    ...
    textveil.core.errors.Refused: the dealer was asked for numbers that it has dealt before
    """

    def __init__(self) -> None:
        self._seeds: tuple[bytes, ...] | None = None
        self._next = 0
        self._repeatable: set[Drawn] = set()

    def check_seeds(self, seeds: Sequence[bytes]) -> None:
        """Refuse another pair than the first."""
        if self._seeds is None:
            if len(seeds) != 2 or seeds[0] == seeds[1]:
                raise Refused("the dealer needs the seeds of two parties")
            self._seeds = tuple(seeds)
        elif tuple(seeds) != self._seeds:
            raise Refused("the dealer was given other seeds than those of the session")

    def check_and_note(self, operation: Operation, arrays: Sequence[Drawn], *, repeatable: bool = False) -> None:
        """Refuse whatever was dealt before; else remember it."""
        end = self._next
        for place, drawn in enumerate(arrays):
            is_mask = place >= operation.operands
            if drawn.counter >= end:
                end = drawn.end
            elif is_mask or not repeatable or drawn not in self._repeatable:
                raise Refused("the dealer was asked for numbers that it has dealt before")
        self._next = end
        if repeatable and len(self._repeatable) < MOST_REPEATED:
            self._repeatable.update(arrays[: operation.operands])


__all__ = ["CounterBook", "Drawn"]
