"""Who trusts whom: the three ways to compute, their words for people, and the engine's settings for each.

    dealer   Alice and Bob compute, a third process deals correlated random numbers (SPU's SEMI2K, trusted third party)
    three    three servers compute on shares, at most one of them is curious (SPU's ABY3)
    two      Alice and Bob compute alone (SPU's CHEETAH: homomorphic encryption and oblivious transfer)

The engine's own default, where the first party deals the numbers, is never used: Alice would know Bob's masks.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from textveil.core.errors import UnknownName

from .oracle import BITS

ENGINE = "spu 0.9.5"


@dataclass(frozen=True)
class Trust:
    """One way to compute. `model` is the model of trust in one sentence, `collusion` who must not work together."""

    name: str
    parties: int
    protocol: str
    model: str
    collusion: str
    settings: tuple[tuple[str, Any], ...] = ()

    def config(self, bits: int = BITS) -> dict[str, Any]:
        """The engine's settings that both sides must share; addresses and keys come with the session."""
        return {
            "protocol": self.protocol,
            "field": "FM64",
            "fxp_fraction_bits": bits,
            **dict(self.settings),
        }


TRUSTS = {
    trust.name: trust
    for trust in (
        Trust(
            "dealer",
            2,
            "SEMI2K",
            "two parties and a dealer, semi-honest: each follows the protocol and may look at what it receives",
            "the dealer must collude with neither of them: with the owner of the model it would read the text",
            (("beaver_type", "TrustedThirdParty"),),
        ),
        Trust(
            "three",
            3,
            "ABY3",
            "three servers with an honest majority, semi-honest: each follows the protocol and may look at what it receives",
            "no two of the three servers may collude: two of them together read both the text and the model",
        ),
        Trust(
            "two",
            2,
            "CHEETAH",
            "two parties without any third, semi-honest: each follows the protocol and may look at what it receives",
            "nobody else is needed, so there is nobody to collude with; it is slow",
        ),
    )
}
LEAKS = (
    "the label that the client gets (the server never sees it); many labels together tell about the model",
    "when somebody asks, how many texts at once, and how long it takes: the time does not depend on the text",
    "the shapes of the network, the number of classes, and which encoder it reads",
)
SCORE_LEAK = "the score beside the label (--score): it tells far more about the model than labels do"
ACTIVE = "a party that breaks the protocol is not covered: it can make the answer wrong, and may learn something"


def trust_of(name: str) -> Trust:
    """One of the three, by name.

    >>> trust_of("dealer").protocol
    'SEMI2K'
    """
    if name not in TRUSTS:
        raise UnknownName("trust", name, list(TRUSTS))
    return TRUSTS[name]


def digest(value: Any) -> str:
    """A hash of a JSON value, the same on both sides."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


__all__ = ["ACTIVE", "ENGINE", "LEAKS", "SCORE_LEAK", "TRUSTS", "Trust", "digest", "trust_of"]
