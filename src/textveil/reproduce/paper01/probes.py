"""Paper 01, Table 1 in cells: sets of contracts as the paper's, a model of each, 50 probes before and after sealing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.permutation import permutation_p
from textveil.hashed.extractor import Extractor
from textveil.hashed.probe import probe
from textveil.hashed.seal import SealPlan, seal
from textveil.noise.source import seeded
from textveil.reproduce.paper01.data import STATES, contracts
from textveil.reproduce.paper01.models import found, token_score, train, truth
from textveil.reproduce.paper01.states import LAW, TEMPLATE, StateSet, contracts_by_state, draw_set

ALPHA = 0.01
FREQUENT = 3  # states that occur four times or more
TESTED = 30  # contracts outside the set
WAYS = {
    "before": None,
    "paper": SealPlan(mode="paper"),
    "quiet": SealPlan(),
}


def probes(data: Path, *, first: int, sets: int) -> dict[str, Any]:
    """Counts over some sets; `gap`, `frequent` and `rare` are means of shares over them."""
    rows = [one_set(data, draw_set(contracts_by_state(data), number), number) for number in range(first, first + sets)]
    counts = ("trained", "others", "extracted", "rejected")
    numbers: dict[str, Any] = {"sets": sets, "trained_states": 8 * sets, "other_states": 42 * sets, "states": 50 * sets}
    for when in WAYS:
        numbers |= {f"{name}_{when}": int(sum(row[when][name] for row in rows)) for name in counts}
        for name in ("frequent", "rare", "gap", "f"):
            numbers[f"{name}_{when}"] = float(np.mean([row[when][name] for row in rows]))
        numbers[f"p_values_{when}"] = [row[when]["p"] for row in rows]
    return numbers


def one_set(data: Path, drawn: StateSet, number: int) -> dict[str, dict[str, float]]:
    """The model of a set: unsealed, sealed as printed, sealed as shipped."""
    model = train(data, LAW, drawn.places)
    testing = _others(data, drawn, number)
    wanted = [truth(data, LAW, place) for place in testing]
    shown = {}
    for when, plan in WAYS.items():
        own = model if plan is None else model.with_table(seal(model.table_, plan, noise=seeded(number)))
        labels = [found(data, own, place) for place in testing]
        shown[when] = _probed(own, drawn, number) | {"f": token_score(list(zip(labels, wanted, strict=True))).f}
    return shown


def _probed(model: Extractor, drawn: StateSet, number: int) -> dict[str, float]:
    answers = probe(model, STATES, TEMPLATE)
    scores = np.array([answer.score for answer in answers])
    taken = {answer.term: answer.extracted for answer in answers}
    member = np.array([state in drawn.states for state in STATES])
    trained = [taken[state] for state in drawn.states]
    others = [taken[state] for state in STATES if state not in drawn.states]
    chance = permutation_p(scores, member, seeded(number))
    return {
        "trained": sum(trained),
        "others": sum(others),
        "extracted": sum(taken.values()),
        "frequent": float(np.mean(trained[:FREQUENT])),
        "rare": float(np.mean(trained[FREQUENT:])),
        "gap": float(np.mean(trained) - np.mean(others)),
        "p": chance,
        "rejected": chance <= ALPHA,
    }


def _others(data: Path, drawn: StateSet, number: int) -> list[int]:
    marked = [i for i, spans in enumerate(contracts(data).spans[LAW]) if spans and i not in drawn.places]
    return np.random.default_rng([number, 11]).choice(marked, TESTED, replace=False).tolist()
