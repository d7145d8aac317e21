"""What a law is: a name, a check that raises `BrokenLaw`, and what a checked mechanism has to offer for it.

A law that does not apply (no `get_params`, no `epsilon`, no two worlds to compare) is not passed silently: the check
returns the reason, and `Checked.skipped` shows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..attacks.evidence import Evidence
from ..core import Guarantee, Shape
from ..core.example import Worlds
from .designs import Design


class BrokenLaw(AssertionError):
    """A mechanism, or an attack, does not keep a law; `law` is its name.

    >>> str(BrokenLaw("words.brr", "nothing is edited in place", "the list of texts was changed"))
    "words.brr breaks the law 'nothing is edited in place': the list of texts was changed"
    """

    def __init__(self, who: str, law: str, what: str):
        super().__init__(f"{who} breaks the law '{law}': {what}")
        self.who, self.law, self.what = who, law, what


@dataclass(frozen=True, repr=False)
class Checked:
    """Which laws held, which could not be asked, and what the audit saw. Nothing here proves privacy."""

    mechanism: str
    held: tuple[str, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    evidence: tuple[tuple[Evidence, Guarantee], ...] = ()

    def __str__(self) -> str:
        """One line a law, for people.

        >>> print(Checked("count", ("every size works",), {"the promise holds": "no two worlds are known to compare"}))
        count
          held      every size works
          not asked the promise holds: no two worlds are known to compare
        """
        lines = [self.mechanism, *(f"  held      {law}" for law in self.held)]
        lines += [f"  not asked {law}: {why}" for law, why in self.skipped.items()]
        if self.evidence:
            floor = max(evidence.epsilon_floor() for evidence, _ in self.evidence)
            lines.append(f"  audited   {len(self.evidence)} pairs of worlds; loss shown: at least {floor:.3g}")
        return "\n".join(lines)

    __repr__ = __str__


@dataclass
class Case:
    """The mechanism under test and all that the laws need to know about it."""

    mechanism: Any
    sample: Any
    shape: Shape
    alpha: float
    tries: int
    audit: str = "auto"
    worlds: tuple[Worlds, ...] = ()
    make_vectors: Callable[..., Any] | None = None
    transition: Callable[[Any], Any] | None = None
    repeatable: bool = True
    see: Callable[[Any], Any] | None = None
    evidence: list[tuple[Evidence, Guarantee]] = field(default_factory=list)

    def broken(self, law: str, what: str) -> BrokenLaw:
        return BrokenLaw(str(getattr(self.mechanism, "name", type(self.mechanism).__name__)), law, what)

    @property
    def parameters(self) -> dict[str, Any]:
        ask = getattr(self.mechanism, "get_params", None)
        return dict(ask()) if callable(ask) else {}

    def has(self, parameter: str) -> bool:
        return parameter in self.parameters

    @property
    def on_words(self) -> bool:
        """Whether it veils words and can be fitted to vectors that the suite makes up."""
        return hasattr(self.mechanism, "vectors_") and self.maker() is not None and bool(self.parameters)

    def maker(self) -> Callable[..., Any] | None:
        """`make_vectors`, or the function `from_arrays` that stands beside the class of the mechanism's own vectors."""
        if self.make_vectors is not None:
            return self.make_vectors
        home = sys.modules.get(type(getattr(self.mechanism, "vectors_", None)).__module__)
        return getattr(home, "from_arrays", None)

    def fresh(self, **changes: Any) -> Any:
        """A new instance with some parameters changed, fitted as the given one is; never seeded unless asked for."""
        unseeded = {"seed": None} if self.has("seed") else {}
        made = type(self.mechanism)(**{**self.parameters, **unseeded, **changes})
        return self.fitted_like(made)

    def fitted_like(self, made: Any) -> Any:
        if hasattr(self.mechanism, "vectors_"):
            return made.fit(self.mechanism.vectors_)
        if not hasattr(made, "fit") or not self._is_fitted():
            return made
        return made.fit(*self.sample) if isinstance(self.sample, tuple) else made.fit(self.sample)

    def _is_fitted(self) -> bool:
        """Whether the given one has learnt something: `fit` of a trainer is the private step itself, and not asked for."""
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self.mechanism))

    def seen(self, output: Any) -> Any:
        """What of an output is compared."""
        return output if self.see is None else self.see(output)

    def on(self, design: Design, **changes: Any) -> Any:
        """A new, unseeded instance fitted to made-up words."""
        maker = self.maker()
        assert maker is not None
        unseeded = {"seed": None} if self.has("seed") else {}
        made = type(self.mechanism)(**{**self.parameters, **unseeded, **changes})
        return made.fit(maker(list(design.words), design.matrix, design.codes))

    @property
    def blocks(self) -> int:
        """64-bit blocks of a made-up code: as many as the mechanism's parameter `bits` asks for."""
        return -(-int(self.parameters.get("bits") or 64) // 64)
