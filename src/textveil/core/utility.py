"""What a release is still good for, as a value: one task, done with the release and with the original.

A utility says how well a task goes with what was released (`value`), how well it goes with the original (`original`) and
what one gets without looking (`chance`: the majority, a random pick). It stands beside the evidence of attacks: the promise
says what cannot be learnt, evidence what was learnt, utility what the release is worth.

A figure that was computed with private text at hand is about that text. It goes to `OUT.private/utility.json`, and into the
folder (`release.json`, "utility") only when its owner publishes it; then `published` is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import BadInput


@dataclass(frozen=True)
class Utility:
    """How well one task goes with the release.

    `interval` is the 95 % interval of `value`. `sizes` names the sizes of the samples: {"train": 4000, "test": 1000}.

    >>> use = Utility("classify by product", "accuracy", 0.71, 0.77, 0.28, (0.69, 0.73), sizes={"train": 4000, "test": 1000})
    >>> round(use.kept(), 3)                      # of what the original gives beyond chance
    0.878
    >>> Utility.from_json(use.to_json()) == use
    True
    """

    task: str
    metric: str
    value: float
    original: float | None = None
    chance: float | None = None
    interval: tuple[float, float] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    how: str = ""  # the method, in a few words: "TF-IDF and logistic regression"
    published: bool = False
    notes: tuple[str, ...] = ()

    def kept(self) -> float | None:
        """The share of the original's gain over chance that the release keeps; None where there is no such gain."""
        if self.original is None or self.chance is None or self.original <= self.chance:
            return None
        return (self.value - self.chance) / (self.original - self.chance)

    def to_json(self) -> dict[str, Any]:
        row = {name: value for name, value in asdict(self).items() if not _is_left_out(value)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}

    @classmethod
    def from_json(cls, row: Any) -> Utility:
        try:
            shown = dict(row)
            interval, notes = shown.pop("interval", None), shown.pop("notes", ())
            return cls(interval=None if interval is None else (interval[0], interval[1]), notes=tuple(notes), **shown)
        except (TypeError, ValueError, KeyError, IndexError):
            raise BadInput("a line of utility in release.json is not of the form that this version reads") from None


def _is_left_out(value: Any) -> bool:
    """Whether a field says nothing; a score of 0 says a lot.

    >>> [_is_left_out(value) for value in (None, "", (), {}, False, 0.0)]
    [True, True, True, True, True, False]
    """
    return value is None or value is False or value in ("", (), {})


__all__ = ["Utility"]
