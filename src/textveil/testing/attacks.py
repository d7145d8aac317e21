"""`check_attack`: the laws that every attack keeps.

An attack is believed when it finds a leak, so it must be unable to find one where there is none, and able to where all is
told. It may use the truth to score its guesses and for nothing else: on an output that tells nothing, and for a truth that
was shuffled afterwards, knowing the truth is the only way to do better than chance.

What an attack depends on is declared by types. It names the kinds of exposure it takes (`sees`), and a kind always has its
fields: without one of them it cannot be made, so there is nothing to take away and see. What remains is tried: an exposure of
a kind that it does not name is refused in one sentence; each optional field that it names in `needs` is set to None, and it
must be missed in one sentence; those that it does not name are set to None, all together, and it must run (where there is no
truth to align them with); and without the truth it either runs or says in one sentence that it cannot be scored.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..attacks.evidence import Evidence
from ..attacks.exposure import Exposure, Truth, kinds_of
from ..core import BadInput
from ..core.params import open_fraction
from ..noise import secure, seeded
from . import values
from .laws import BrokenLaw

NEEDS = "its needs are declared"
EVIDENCE = "its evidence is valid"
CHANCE = "it is at chance where nothing is told"
LEAK = "it finds a leak where all is told"
TRUTH = "the truth only scores"
REPEATS = "it draws from the given source and edits nothing"

Factory = Callable[[str], Exposure]


def check_attack(attack: Any, exposure_factory: Factory, *, alpha: float = 1e-6) -> None:
    """Raise `BrokenLaw` if the attack breaks a law.

    `exposure_factory("nothing")` returns an exposure of a kind that it takes whose outputs do not depend on the inputs,
    `exposure_factory("all")` one whose outputs are the inputs; with `truth` if the attack can be scored on one. An attack
    that keeps the laws is reported with probability at most about `alpha`.
    """
    open_fraction("alpha", alpha)
    silent, telling = exposure_factory("nothing"), exposure_factory("all")
    _needs_are_declared(attack, telling)
    _source_is_used(attack, telling)
    _at_chance(attack, silent, alpha / 2, CHANCE, "it scores above chance although the output tells nothing")
    found = _run(attack, telling)
    if not (found.value > found.chance and found.epsilon_floor() > 0):
        raise BrokenLaw(_name(attack), LEAK, f"its success is {found.value:.3g} at chance {found.chance:.3g}")
    truth = _truth(telling)
    if truth is not None:
        shuffled = replace(telling, truth=truth.shuffled(secure().permutation(len(truth))))  # type: ignore[call-arg]
        _at_chance(
            attack, shuffled, alpha / 2, TRUTH, "it still succeeds when the truth is shuffled, so it reads the truth"
        )


@dataclass(frozen=True)
class _Foreign(Exposure):
    """A kind that no attack takes."""


def _needs_are_declared(attack: Any, exposure: Exposure) -> None:
    _check_declaration(attack, exposure)
    _must_refuse(attack, _Foreign(), "an exposure of another kind")
    optional, needs = type(exposure).optional(), set(attack.needs)
    for need in sorted(optional & needs):
        _must_refuse(attack, _without(exposure, need), f"it declares that it needs {need}, and without")
    lean = dict.fromkeys(optional - needs) if _truth(exposure) is None else {}
    try:
        if lean:
            attack.run(replace(exposure, **lean), rng=secure())
        if _truth(exposure) is not None:
            attack.run(replace(exposure, truth=None), rng=secure())  # type: ignore[call-arg]
    except BadInput as error:
        if lean:
            raise BrokenLaw(
                _name(attack), NEEDS, f"it cannot do without what `needs` does not name ({error})"
            ) from error
    except Exception as error:
        what = "what `needs` does not name" if lean else "the truth"
        raise BrokenLaw(_name(attack), NEEDS, f"without {what} it ends in a {type(error).__name__}") from error


def _check_declaration(attack: Any, exposure: Exposure) -> None:
    needs, kinds = getattr(attack, "needs", None), kinds_of(attack) if hasattr(attack, "sees") else ()
    if not kinds or not all(isinstance(kind, type) and issubclass(kind, Exposure) for kind in kinds):
        raise BrokenLaw(_name(attack), NEEDS, "`sees` names no kind of exposure")
    if not isinstance(exposure, kinds):
        raise BrokenLaw(_name(attack), NEEDS, f"it does not say that it takes {type(exposure).__name__}")
    known = set().union(*(kind.optional() for kind in kinds))
    if not isinstance(getattr(attack, "name", None), str) or not isinstance(needs, tuple):
        raise BrokenLaw(_name(attack), NEEDS, "it lacks a name, or `needs` is no tuple")
    if "truth" in needs:
        raise BrokenLaw(_name(attack), NEEDS, "it needs the truth, which no adversary has")
    if not set(needs) <= known:
        raise BrokenLaw(_name(attack), NEEDS, "`needs` names what is no optional field of the kinds it takes")


def _must_refuse(attack: Any, exposure: Exposure, what: str) -> None:
    try:
        attack.run(exposure, rng=secure())
    except BadInput:
        return
    except Exception as error:
        raise BrokenLaw(_name(attack), NEEDS, f"{what}: it ends in a {type(error).__name__}") from error
    raise BrokenLaw(_name(attack), NEEDS, f"{what}: it runs all the same")


def _without(exposure: Exposure, field: str) -> Exposure:
    """The exposure without a field; where others are aligned with it, without the truth and all that is optional."""
    try:
        return replace(exposure, **{field: None})
    except BadInput:
        return replace(exposure, **dict.fromkeys([*type(exposure).optional(), "truth"]))


def _truth(exposure: Exposure) -> Truth | None:
    return getattr(exposure, "truth", None)


def _source_is_used(attack: Any, exposure: Exposure) -> None:
    before = _arrays(exposure)
    state = np.random.get_state()
    first, second = (_run(attack, exposure, seeded(1)) for _ in range(2))
    if first != second or not values.same(list(np.random.get_state()), list(state)):
        raise BrokenLaw(
            _name(attack), REPEATS, "two runs with the same seed differ, or it used numpy's global generator"
        )
    if not values.same(_arrays(exposure), before):
        raise BrokenLaw(_name(attack), REPEATS, "it changed what it was shown")


def _arrays(exposure: Exposure) -> dict[str, Any]:
    """Copies of the arrays that an exposure holds, the truth's too."""
    shown = {f.name: getattr(exposure, f.name) for f in fields(exposure)}
    shown = {name: value.ids if isinstance(value, Truth) else value for name, value in shown.items()}
    return {name: copy.deepcopy(value) for name, value in shown.items() if isinstance(value, np.ndarray)}


def _at_chance(attack: Any, exposure: Exposure, alpha: float, law: str, what: str) -> None:
    found = _run(attack, exposure)
    if found.epsilon_floor(1 - alpha) > 1e-9:
        raise BrokenLaw(_name(attack), law, f"{what} (success {found.value:.3g}, chance {found.chance:.3g})")


def _run(attack: Any, exposure: Exposure, rng: Any = None) -> Evidence:
    found = attack.run(exposure, rng=secure() if rng is None else rng)
    if not isinstance(found, Evidence):
        raise BrokenLaw(_name(attack), EVIDENCE, f"run() returned a {type(found).__name__}")
    if Evidence.from_json(found.to_json()) != found:
        raise BrokenLaw(_name(attack), EVIDENCE, "its evidence does not survive JSON")
    if found.attack != attack.name:
        raise BrokenLaw(_name(attack), EVIDENCE, f"its evidence names the attack '{found.attack}'")
    low, high = found.interval()
    if not low - 1e-9 <= found.value <= high + 1e-9 and not found.two_worlds:
        raise BrokenLaw(_name(attack), EVIDENCE, "its value lies outside its own interval")
    return found


def _name(attack: Any) -> str:
    return str(getattr(attack, "name", type(attack).__name__))
