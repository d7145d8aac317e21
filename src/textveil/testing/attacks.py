"""`check_attack`: the laws that every attack keeps.

An attack is believed when it finds a leak, so it must be unable to find one where there is none, and able to where all is
told. It may use the truth to score its guesses and for nothing else: on an output that tells nothing, and for a truth that
was shuffled afterwards, knowing the truth is the only way to do better than chance.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..attacks.evidence import Evidence
from ..attacks.exposure import Exposure
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

    `exposure_factory("nothing")` returns an Exposure whose outputs do not depend on the inputs,
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
    if telling.truth is not None:
        shuffled = replace(telling, truth=telling.truth[secure().permutation(len(telling.truth))])
        _at_chance(
            attack, shuffled, alpha / 2, TRUTH, "it still succeeds when the truth is shuffled, so it reads the truth"
        )


def _needs_are_declared(attack: Any, exposure: Exposure) -> None:
    known = {f.name for f in fields(Exposure)}
    needs = getattr(attack, "needs", None)
    if not isinstance(getattr(attack, "name", None), str) or not isinstance(needs, tuple) or not set(needs) <= known:
        raise BrokenLaw(_name(attack), NEEDS, "it lacks a name, or `needs` is no tuple of fields of Exposure")
    if "truth" in needs:
        raise BrokenLaw(_name(attack), NEEDS, "it needs the truth, which no adversary has")
    for need in needs:
        without: dict[str, Any] = {need: None}
        if need == "observed":
            without["truth"] = None
        try:
            attack.run(replace(exposure, **without), rng=secure())
        except BadInput:
            continue
        except Exception as error:
            raise BrokenLaw(_name(attack), NEEDS, f"without {need} it ends in a {type(error).__name__}") from error
        raise BrokenLaw(_name(attack), NEEDS, f"it declares that it needs {need} and runs without")


def _source_is_used(attack: Any, exposure: Exposure) -> None:
    arrays = {n: copy.deepcopy(getattr(exposure, n)) for n in ("observed", "prior", "truth")}
    state = np.random.get_state()
    first, second = (_run(attack, exposure, seeded(1)) for _ in range(2))
    if first != second or not values.same(list(np.random.get_state()), list(state)):
        raise BrokenLaw(
            _name(attack), REPEATS, "two runs with the same seed differ, or it used numpy's global generator"
        )
    if any(not values.same(getattr(exposure, n), before) for n, before in arrays.items()):
        raise BrokenLaw(_name(attack), REPEATS, "it changed what it was shown")


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
