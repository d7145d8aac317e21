"""What the adversary of masked text has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textveil.attacks.exposure import Exposure, Owners
from textveil.core import BadInput


@dataclass(frozen=True)
class MaskedSeen(Exposure):
    """Masked documents, and perhaps what is known of the people they may be about, or documents masked another time.

    `names` has, for each person, what names them (names, birth dates, numbers); `facts` what many people share (age, place,
    job). `recognised` has, for each document, what a second recogniser marks in its masked text. `truth` is the number of
    the person, or of the other document, that each document belongs to.
    """

    texts: Sequence[str]
    names: Sequence[Sequence[str]] | None = None
    facts: Sequence[Sequence[str]] | None = None
    others: Sequence[str] | None = None
    recognised: Sequence[Sequence[str]] | None = None
    truth: Owners | None = None

    def __post_init__(self) -> None:
        if self.truth is not None and len(self.truth) != len(self.texts):
            raise BadInput("the truth needs the number of a person (or of a document) for each masked document")
        if self.recognised is not None and len(self.recognised) != len(self.texts):
            raise BadInput("what a second recogniser marks is a list for each masked document")


__all__ = ["MaskedSeen"]
