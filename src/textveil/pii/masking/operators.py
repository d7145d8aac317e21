"""What stands in the place of a value: a sign, its kind, a keyed hash of it.

redact      the same sign for everything: nothing but the place of the value is shown
tag         its kind: [PERSON]
hash        its kind and a keyed hash: [PERSON_3f09a1c2b4d5]; equal values have equal hashes, so repeats can be followed.
            48 bits: among a million values two are taken for one with a chance of about 1 in 500. Without the key nobody can
            test a guess; with it anybody can.
pseudonym   another value of the same kind (pseudonyms.py)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from textveil.core.params import choice
from textveil.pii.masking.keys import MaskKey
from textveil.text.spans import Span

HOWS = ("redact", "tag", "hash", "pseudonym")
REDACTED = "[REDACTED]"
_NUMBERS = re.compile(r"[\s().\-/\u00a0]+")
_BLANKS = re.compile(r"\s+")


class Place(NamedTuple):
    """Where a value stands: the number of its document and, where known, whom the document is about."""

    document: int
    person: str | None = None


Operator = Callable[[Span, str, Place], str]  # the span, the value, where -> what is put in its place


def canonical(label: str, value: str) -> str:
    """The value without what spelling may change: case, blanks, the separators of numbers.

    >>> canonical("PHONE_NUMBER", "(030) 12-34"), canonical("PERSON", "Anna  MEYER")
    ('0301234', 'anna meyer')
    """
    folded = value.casefold()
    if any(sign.isdigit() for sign in folded) and label not in ("STREET_ADDRESS", "URL", "DATE_TIME", "PERSON"):
        return _NUMBERS.sub("", folded)
    return _BLANKS.sub(" ", folded).strip()


def redact(span: Span, value: str, place: Place) -> str:
    return REDACTED


def tag(span: Span, value: str, place: Place) -> str:
    return f"[{span.label}]"


def hashed(key: MaskKey) -> Operator:
    """The operator of keyed hashes."""

    def operate(span: Span, value: str, place: Place) -> str:
        digest = key.digest(f"hash {span.label}", canonical(span.label, value)).hex()[:12]
        return f"[{span.label}_{digest}]"

    return operate


def operator_of(how: str, key: MaskKey) -> Operator:
    """The operator of a name; pseudonyms have a table of people and are made in pseudonyms.py."""
    choice("how", how, HOWS)
    return {"redact": redact, "tag": tag, "hash": hashed(key)}[how]


__all__ = ["HOWS", "REDACTED", "Operator", "Place", "canonical", "hashed", "operator_of", "redact", "tag"]
