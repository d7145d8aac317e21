"""What of the phrase pairs leaves: lengths, share, segmentation, tags, decoys."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from textveil.core import BadInput
from textveil.core.params import choice, fraction, positive_integer

DROPS = ("occurrence", "type")
CUTS = ("overlapping", "apart")


@dataclass(frozen=True)
class FragmentPolicy:
    """How a text is cut, and what is kept of the pieces.

    `cut`: all consistent phrases, which overlap (as in the paper), or phrases that stand apart, so that no word of a
    sentence is in two of them. `drop` is the share that is left out, of all occurrences or of all types (a phrase pair
    with all its occurrences).
    """

    longest: int = 4
    shortest: int = 1
    longest_target: int | None = None
    cut: str = "overlapping"
    drop: float = 0.5
    drop_by: str = "occurrence"
    unique: bool = False
    tags: bool = False
    decoys: float = 0.0

    def check(self) -> None:
        """Refuse settings outside their range."""
        for name in ("longest", "shortest"):
            positive_integer(name, getattr(self, name))
        if self.longest_target is not None:
            positive_integer("longest_target", self.longest_target)
        if self.shortest > self.longest or self.shortest > (self.longest_target or self.longest):
            raise BadInput(f"the shortest phrase ({self.shortest} words) is longer than the longest ({self.longest})")
        choice("cut", self.cut, CUTS)
        choice("drop_by", self.drop_by, DROPS)
        if fraction("drop", self.drop) == 1:
            raise BadInput("drop 1 would leave nothing", possible="a share below 1")
        fraction("decoys", self.decoys)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


__all__ = ["CUTS", "DROPS", "FragmentPolicy"]
