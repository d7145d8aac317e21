"""Paper 05: one arm trained, attacked and scored; prices of what the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.federated.beam import BeamSearchAttack
from textveil.attacks.federated.secret_sharer import SecretSharerAttack
from textveil.attacks.federated.sharers import SharedCanaries
from textveil.attacks.federated.user_run import UserRunAttack
from textveil.attacks.training.seen import CanariesSeen
from textveil.federated.local import LocalTraining
from textveil.federated.plan import RoundPlan, calibrated
from textveil.federated.task import next_word_scores
from textveil.noise.source import seeded
from textveil.recipes.federated.audit import next_words_seen
from textveil.recipes.training.audit import losses_of
from textveil.reproduce.paper05.arms import DELTA, SIZES, Noise, by_records, by_users, round_plan, started
from textveil.reproduce.paper05.data import planted, users

PAPER_USERS = 392_000


def start(data: Path, *, size: str, seed: int) -> dict[str, Any]:
    """The public start: how useful it is, and what it makes of canaries that it never saw."""
    net = started(data, size)
    _, canaries = planted(data, net.names, SIZES[size].sentences, seed, iid=False)
    return {**scores(data, net, size), **attacked(net, canaries, size, seed)}


def arm(
    data: Path,
    *,
    unit: str,
    optimiser: str,
    split: str,
    batch: int,
    rate: float,
    epochs: float,
    size: str,
    seed: int,
    clip: float = 0.0,
    epsilon: float = 0.0,
    delta: float = DELTA,
    sampling: str = "fixed",
    population: int = 0,
    frozen: Sequence[str] = (),
) -> dict[str, Any]:
    """One model: in batches of records (shuffled, or one user after the other), or in rounds of `batch` users."""
    net = started(data, size)
    texts, canaries = planted(data, net.names, SIZES[size].sentences, seed, iid=split == "iid")
    if unit == "records":
        trained = by_records(net, texts, optimiser=optimiser, batch=batch, rate=rate, epochs=epochs, seed=seed)
        return {**scores(data, trained, size), **attacked(trained, canaries, size, seed)}
    units = list(texts.values())
    noise = Noise(epsilon, delta, population)
    plan, multiplier = round_plan(len(units), batch, epochs, clip or None, sampling, noise)
    local = LocalTraining(optimiser, rate=rate, batch=16)
    trained = by_users(net, units, plan, local, frozen=tuple(frozen), seed=seed)
    promise = {"delta": delta, "epsilon": epsilon} if epsilon and not population else {}
    return {
        **scores(data, trained, size),
        **attacked(trained, canaries, size, seed, **promise),
        "rounds": plan.rounds,
        "multiplier": multiplier,
        "noise_on_mean": plan.noise * clip / batch,
    }


def prices(data: Path | None, *, per_round: int, rounds: int, epsilon: float) -> dict[str, Any]:
    """The multiplier that the paper's population needs: fixed-size rounds (replace, 2C), Poisson ones (add/remove, C).

    `mixed` is the price of fixed-size rounds at the multiplier of Poisson ones: what mixing the two up hides.
    """
    plans = {s: RoundPlan(PAPER_USERS, per_round, rounds, sampling=s, clip=0.2) for s in ("fixed", "poisson")}
    multipliers = {name: calibrated(plan, epsilon, DELTA).noise for name, plan in plans.items()}
    return {**multipliers, "mixed": plans["fixed"].with_noise(multipliers["poisson"]).price(DELTA)}


def scores(data: Path, net: Any, size: str) -> dict[str, float]:
    """Perplexity and accuracy on sentences of users that nobody trained on."""
    test = users(data, SIZES[size].sentences)[1]
    step = max(1, len(test) // SIZES[size].tested)
    return next_word_scores(net, test[::step])


def attacked(
    net: Any, canaries: SharedCanaries, size: str, seed: int, epsilon: float | None = None, delta: float = 0.0
) -> dict[str, Any]:
    """Both ways to find a canary, hit by hit, exposures, and the lower limit from canary users."""
    rng, facts = seeded(90_000 + seed), SIZES[size]
    seen = next_words_seen(net, canaries)
    ranked = SecretSharerAttack(facts.branches, facts.leaves).measure(seen, rng)
    hits = np.array([one.memorised for one in ranked])
    extracted = BeamSearchAttack().extracted(seen)
    found = {
        "rs": int(hits.sum()),
        "bs": int(extracted.sum()),
        "rs_hits": hits.astype(int).tolist(),
        "bs_hits": extracted.astype(int).tolist(),
        "exposures": [round(one.exposure, 2) for one in ranked],
        "candidates": facts.branches * facts.leaves,
        "configurations": [[c.sharers, c.share, c.occurrences] for c in canaries.canaries],
        "lowest": lowest(canaries, hits),
    }
    return {**found, **_coins(net, canaries, epsilon, delta, rng)}


def _coins(net: Any, canaries: SharedCanaries, epsilon: float | None, delta: float, rng: Any) -> dict[str, Any]:
    guess: Evidence = UserRunAttack(delta=delta).run(CanariesSeen(losses_of(net), canaries.canary_users), rng=rng)
    return {"coins_right": guess.hits, "coins_guessed": guess.tries, "floor": guess.epsilon_floor(), "epsilon": epsilon}


def lowest(canaries: SharedCanaries, hits: np.ndarray) -> int:
    """Table 6: how often the rarest memorised canary stood in the data; 0 where none is memorised."""
    times = [c.occurrences for c, hit in zip(canaries.canaries, hits.tolist(), strict=True) if hit]
    return min(times, default=0)
