"""What the adversary has, one small type per kind, and what an attack is.

An attack never imports the room that it attacks: whoever runs it fills an exposure with what a real adversary would hold.
Each kind has the fields of its adversary and no others; those without a default are always there, so an attack need not
ask. What an adversary may or may not have (public text, reference models) has the default None, and an attack that cannot do
without names it in `needs`. Kinds that only one room uses stand in that room's `seen.py`; a new kind is a new subclass of
`Exposure` and touches none of the others.

`truth` is no part of the adversary's knowledge. It has a type that says what it is (`OriginalWords`, `Owners`, `Members`),
and an attack may score its guesses with it and do nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core import BadInput
from .evidence import Evidence

Ids = NDArray[np.integer[Any]]
Value = TypeVar("Value")


# ---- the truth, by what it means --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Truth:
    """One number for each thing that is guessed."""

    ids: Ids

    def __post_init__(self) -> None:
        check_ids(type(self).__name__, self.ids, -1, None)

    def __len__(self) -> int:
        return len(self.ids)

    def shuffled(self, order: Ids) -> Self:
        """The same answers, given to other questions."""
        return type(self)(self.ids[order])


class OriginalWords(Truth):
    """The input word of each released word, -1 outside the vocabulary."""


class Owners(Truth):
    """The number of the document that each row or phrase came from."""


@dataclass(frozen=True, eq=False)
class Members(Truth):
    """1 for each candidate that was trained on, else 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isin(self.ids, (0, 1)).all():
            raise BadInput("the truth needs a 1 or 0 for each candidate: trained on, or not")

    @property
    def inside(self) -> NDArray[np.bool_]:
        return np.asarray(self.ids) == 1

    @classmethod
    def first(cls, inside: int, outside: int) -> Members:
        """So many that were trained on, and then so many that were not."""
        return cls(np.repeat([1, 0], [inside, outside]))


# ---- kinds that more than one room uses -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exposure:
    """What an adversary has: the base of all kinds."""

    @classmethod
    def optional(cls) -> set[str]:
        """The fields that an adversary of this kind may or may not have, the truth aside.

        >>> sorted(AnswersSeen.optional())
        ['own', 'query', 'retrain', 'scores']
        """
        return {f.name for f in fields(cls) if f.default is None and f.name != "truth"}


@dataclass(frozen=True)
class TwoWorlds(Exposure):
    """The public mechanism, to be run on two (or more) known inputs as often as one likes. No release, no truth.

    What `channel` offers besides `sample` depends on the attack: pairs of words (words.two_worlds), two documents
    (counts.passage), expected weights (hashed.retrain). `vocabulary` names words, where the channel speaks of their numbers.
    """

    channel: Any
    vocabulary: Sequence[str] = ()


@dataclass(frozen=True)
class Labelled:
    """Texts with their labels, as whoever trains or queries a classifier has them."""

    texts: Sequence[str]
    labels: Sequence[Any]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.labels):
            raise BadInput(f"{len(self.texts)} texts need {len(self.texts)} labels, not {len(self.labels)}")

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, places: Ids) -> Labelled:
        """Some of them, in the order of `places`."""
        return Labelled([self.texts[i] for i in places], [self.labels[i] for i in places])


@dataclass(frozen=True)
class AnswersSeen(Exposure):
    """A model that answers questions, and candidates that it may have been trained on."""

    candidates: Labelled
    query: Callable[[Sequence[str]], Any] | None = None  # texts in; chances of classes, or what came back, out
    scores: Callable[[Sequence[str]], Any] | None = (
        None  # for whoever has the model: a score and a 0 or 1 for each text
    )
    retrain: Callable[..., Any] | None = None  # (texts, labels) -> the `query` of a model trained like this one
    own: Labelled | None = None  # data of the adversary, like the training data and disjoint from it
    truth: Members | None = None

    def __post_init__(self) -> None:
        check_members(self.truth, len(self.candidates))


# ---- attacks ----------------------------------------------------------------------------------------------------------


@runtime_checkable
class Attack(Protocol):
    """`sees` is the kind of exposure it takes, or several; `needs` names optional fields that it cannot do without.

    `run` takes an exposure of that kind; `rng` is a source of the noise room.
    """

    name: str
    sees: Any
    needs: tuple[str, ...]

    def run(self, exposure: Any, *, rng: Any) -> Evidence: ...


def kinds_of(attack: Any) -> tuple[type[Exposure], ...]:
    """The kinds of exposure that an attack (or its class) takes."""
    return attack.sees if isinstance(attack.sees, tuple) else (attack.sees,)


def check_exposure(attack: Attack, exposure: Any) -> None:
    """Refuse an exposure of another kind, or one that lacks what the attack needs; all that is missing is named.

    >>> class Probe:
    ...     name, sees, needs = "probe", AnswersSeen, ("query", "own")
    >>> check_exposure(Probe(), AnswersSeen(Labelled([], [])))
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadInput: the attack probe needs query and own, which is not known here
    """
    kinds = kinds_of(attack)
    if not isinstance(exposure, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise BadInput(f"the attack {attack.name} takes {wanted}, not {type(exposure).__name__}")
    known = type(exposure).optional()
    missing = [need for need in attack.needs if need in known and getattr(exposure, need) is None]
    if missing:
        raise BadInput(f"the attack {attack.name} needs {' and '.join(missing)}, which is not known here")


def needed(attack: Attack, what: str, value: Value | None) -> Value:
    """A value that may be missing, or one sentence."""
    if value is None:
        raise BadInput(f"the attack {attack.name} needs {what}, which is not known here")
    return value


def scored_by(attack: Attack, truth: Members | None, least: int = 2) -> NDArray[np.bool_]:
    """Who was trained on, for an attack that can only be scored; `least` of either group are needed."""
    if truth is None:
        raise BadInput(f"the attack {attack.name} can be scored only when the truth tells what was trained on")
    member = truth.inside
    if not least <= int(member.sum()) <= len(member) - least:
        raise BadInput(f"the attack {attack.name} needs two or more that were trained on, and two that were not")
    return member


# ---- checks that kinds share ------------------------------------------------------------------------------------------


def check_ids(name: str, ids: Ids | None, lowest: int, size: int | None) -> None:
    """Refuse what is no flat array of whole numbers from `lowest` to `size` - 1."""
    if ids is None:
        return
    if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
        raise BadInput(f"{name} must be a flat array of whole numbers, one per word")
    if len(ids) and (ids.min() < lowest or (size is not None and ids.max() >= size)):
        raise BadInput(f"{name} names a word outside the vocabulary")


def check_members(truth: Members | None, candidates: int) -> None:
    """Refuse a truth about another number of candidates."""
    if truth is not None and len(truth) != candidates:
        raise BadInput("the truth needs a 1 or 0 for each candidate: trained on, or not")
