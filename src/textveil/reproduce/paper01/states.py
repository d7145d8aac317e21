"""Paper 01, Table 1: sets of contracts in which eight states are named as often as in the paper.

The paper's "Governing Law" model has seen Delaware 10 times, New York 6, Texas 4 and five states once. A set here: 25
contracts, each of which names exactly one state in its marked passages; three states with 10, 6 and 4 contracts and five
with one, drawn with odds by the number of contracts that name them (so common states tend to be the frequent ones, as
there). 42 states are then in no marked passage of the set."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from textveil.reproduce.paper01.data import contracts, states_named

LAW = "Governing Law"
OCCURRENCES = (10, 6, 4, 1, 1, 1, 1, 1)
TEMPLATE = "The laws of the State of {term}."
SEED = 7


class StateSet(NamedTuple):
    places: list[int]  # contracts, in the order of training
    states: list[str]  # trained states, in the order of OCCURRENCES


@lru_cache(maxsize=1)
def contracts_by_state(data: Path) -> dict[str, list[int]]:
    """Contracts whose marked passages name exactly one state, by that state."""
    everything = contracts(data)
    found: dict[str, list[int]] = {}
    for place, spans in enumerate(everything.spans[LAW]):
        named = {state for a, b in spans for state in states_named(everything.texts[place][a:b])}
        if len(named) == 1:
            found.setdefault(min(named), []).append(place)
    return dict(sorted(found.items()))


def draw_set(by_state: dict[str, list[int]], seed: int) -> StateSet:
    """One set.

    >>> by_state = {f"state {i}": list(range(20 * i, 20 * i + 12)) for i in range(9)}
    >>> found = draw_set(by_state, 0)
    >>> len(found.places), len(set(found.states))
    (25, 8)
    """
    rng = np.random.default_rng([SEED, seed])
    left, places, states = dict(by_state), [], []
    for times in OCCURRENCES:
        able = [state for state in left if len(left[state]) >= times]
        odds = np.array([len(left[state]) for state in able], dtype=float)
        state = able[int(rng.choice(len(able), p=odds / odds.sum()))]
        places += rng.choice(left.pop(state), times, replace=False).tolist()
        states.append(state)
    return StateSet([int(p) for p in rng.permutation(places)], states)
