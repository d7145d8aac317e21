"""How text becomes slots: public, and part of every model, since who applies a model must hash exactly as its trainer did."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from textveil.core.errors import BadInput, BadParameter
from textveil.core.params import choice

FAMILIES = ("word", "cluster", "bigram", "skip")
REACH = 5  # a 4-2-skip-gram is a pair of words with up to 4 words between them
LEAST_BITS, MOST_BITS = 4, 28


@dataclass(frozen=True)
class FeaturePlan:
    """R = 2^bits slots, and which families of features fall into them.

    word      the word itself                               "w|court"
    cluster   its group among public word vectors           "c|17"
    bigram    the pair with the word before, and after      "b|new|york"
    skip      pairs with 1 to 4 words between               "s|law|york"

    A token has every feature that it is part of: up to 12. Pairs stay within a sentence.

    >>> FeaturePlan(bits=18).slots
    262144
    """

    bits: int = 21
    families: tuple[str, ...] = FAMILIES
    clusters: str | None = "default"  # "default", a vector file, or None (then the family `cluster` is empty)
    fold: bool = True  # upper case becomes lower case

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not LEAST_BITS <= self.bits <= MOST_BITS:
            raise BadParameter("bits", self.bits, f"a whole number from {LEAST_BITS} to {MOST_BITS}")
        object.__setattr__(self, "families", tuple(self.families))
        for family in self.families:
            choice("family of features", family, FAMILIES)
        if not self.families:
            raise BadParameter("families", self.families, f"some of {', '.join(FAMILIES)}")

    @property
    def slots(self) -> int:
        return 1 << self.bits

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "families": list(self.families)}

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> FeaturePlan:
        """The inverse of `to_json`.

        >>> FeaturePlan.from_json(FeaturePlan(bits=12).to_json())
        FeaturePlan(bits=12, families=('word', 'cluster', 'bigram', 'skip'), clusters='default', fold=True)
        """
        try:
            return cls(shown["bits"], tuple(shown["families"]), shown["clusters"], shown["fold"])
        except (KeyError, TypeError):
            raise BadInput("a feature plan lacks a value", possible="bits, families, clusters, fold") from None
