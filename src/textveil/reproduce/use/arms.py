"""An arm is a word mechanism with parameters; its epsilon is found by the success of the best attack on a word it draws."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from textveil.core import registry
from textveil.noise.source import seeded
from textveil.recipes.use.channel import drawn_prior
from textveil.recipes.words.tune import bayes_success, epsilon_for_attack
from textveil.words import tuning
from textveil.words.mechanism import WordMechanism

DRAWS = 40_000


def mechanism_at(
    mechanism: str,
    parameters: dict[str, Any] | None = None,
    *,
    attack: float | None = None,
    epsilon: float | None = None,
) -> WordMechanism:
    """The fitted mechanism, at an epsilon or at the one where the best attack succeeds with this chance."""
    made = _fitted(mechanism, json.dumps(parameters or {}, sort_keys=True))
    if epsilon is None:
        epsilon = _epsilon(mechanism, json.dumps(parameters or {}, sort_keys=True), float(attack or 0))
    return tuning.at(made, epsilon=epsilon)


@lru_cache(maxsize=16)
def _fitted(mechanism: str, parameters: str) -> WordMechanism:
    made: WordMechanism = registry.make("mechanism", f"words.{mechanism}", **json.loads(parameters))
    return made.fit()


@lru_cache(maxsize=256)
def _epsilon(mechanism: str, parameters: str, attack: float) -> float:
    """Found with draws of public words from a fixed seed: the same each time. `once` changes nothing about one draw."""
    shared = json.dumps({k: v for k, v in json.loads(parameters).items() if k != "once"}, sort_keys=True)
    if shared != parameters:
        return _epsilon(mechanism, shared, attack)
    made = _fitted(mechanism, parameters)
    return epsilon_for_attack(made, attack, prior=drawn_prior(made), draws=DRAWS, noise=seeded(0))


def attack_on(mechanism: WordMechanism, draws: int, seed: int) -> dict[str, Any]:
    """How often the best attack finds a word that is drawn, under the public prior."""
    found = bayes_success(mechanism, drawn_prior(mechanism), draws, seeded(seed))
    return {"value": found.value, "interval": list(found.interval())}
