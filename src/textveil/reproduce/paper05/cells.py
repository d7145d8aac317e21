"""Paper 05: one arm trained, attacked and scored; prices of what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.federated.beam import BeamSearchAttack
from textveil.attacks.federated.secret_sharer import SecretSharerAttack
from textveil.attacks.federated.sharers import SharedCanaries, Texts
from textveil.attacks.federated.user_run import UserRunAttack
from textveil.attacks.training.seen import CanariesSeen
from textveil.federated.plan import RoundPlan, calibrated
from textveil.federated.server_step import ServerStep
from textveil.federated.stacked import StackedTraining
from textveil.federated.task import next_word_scores
from textveil.noise.source import seeded
from textveil.recipes.federated.audit import next_words_seen
from textveil.recipes.training.audit import losses_of
from textveil.reproduce.paper05.arms import DELTA, SIZES, Noise, by_records, by_users, round_plan, started
from textveil.reproduce.paper05.data import planted, users

PAPER_USERS = 392_000
TINY = 1e-4  # of the server's Adam: well below the size of a coordinate of a mean update


def start(data: Path, *, size: str, seed: int) -> dict[str, Any]:
    """The public start: how useful it is, and what it makes of canaries that it never saw."""
    net = started(data, size)
    _, canaries = planted(data, net.names, SIZES[size].sentences, seed, iid=False)
    return {**scores(data, net, size), **attacked(net, canaries, size, seed)}


def arm(data: Path, *, size: str, seed: int, split: str, delta: float = DELTA, **setting: Any) -> dict[str, Any]:
    """One model, in a `Setting`: attacked, and scored on the users kept for testing."""
    asked = Setting(**setting)
    net = started(data, size)
    texts, canaries = planted(data, net.names, SIZES[size].sentences, seed, iid=split == "iid")
    trained, facts = trained_by(net, texts, asked, delta, seed)
    promise = {"delta": delta, "epsilon": asked.epsilon} if asked.epsilon and not asked.population else {}
    return {**scores(data, trained, size), **attacked(trained, canaries, size, seed, **promise), **facts}


def searched(data: Path, *, size: str, seed: int, split: str, delta: float = DELTA, **setting: Any) -> dict[str, Any]:
    """The same setting, scored on the users kept to choose by; its canaries are never looked for."""
    net = started(data, size)
    texts, _ = planted(data, net.names, SIZES[size].sentences, seed, iid=split == "iid")
    trained, facts = trained_by(net, texts, Setting(**setting), delta, seed)
    return {
        **scores(data, trained, size, development=True),
        "begun": scores(data, net, size, development=True),
        **facts,
    }


@dataclass(frozen=True)
class Setting:
    """How one model is trained: in batches of records, or in rounds of `batch` users."""

    unit: str
    optimiser: str
    batch: int
    rate: float
    epochs: float
    clip: float = 0.0
    epsilon: float = 0.0
    sampling: str = "fixed"
    population: int = 0
    frozen: Sequence[str] = ()
    server: str = "average"
    server_rate: float = 1.0
    local_batch: int = 2  # sentences in a user's own steps


def trained_by(net: Any, texts: Texts, asked: Setting, delta: float, seed: int) -> tuple[Any, dict[str, Any]]:
    """A copy of the net, trained on; of rounds also how many, their multiplier and the noise on the mean."""
    if asked.unit == "records":
        own = {"optimiser": asked.optimiser, "batch": asked.batch, "rate": asked.rate, "epochs": asked.epochs}
        return by_records(net, texts, **own, seed=seed), {}  # type: ignore[arg-type]
    units, noise = list(texts.values()), Noise(asked.epsilon, delta, asked.population)
    plan, multiplier = round_plan(len(units), asked.batch, asked.epochs, asked.clip or None, asked.sampling, noise)
    local = StackedTraining(asked.optimiser, rate=asked.rate, batch=asked.local_batch)
    step = ServerStep(asked.server, rate=asked.server_rate, tiny=TINY)
    trained = by_users(net, units, plan, local, step, frozen=tuple(asked.frozen), seed=seed)
    noisy = plan.noise * asked.clip / asked.batch
    return trained, {"rounds": plan.rounds, "multiplier": multiplier, "noise_on_mean": noisy}


def prices(data: Path | None, *, per_round: int, rounds: int, epsilon: float) -> dict[str, Any]:
    """The multiplier that the paper's population needs: fixed-size rounds (replace, 2C), Poisson ones (add/remove, C).

    `mixed` is the price of fixed-size rounds at the multiplier of Poisson ones: what mixing the two up hides.
    """
    plans = {s: RoundPlan(PAPER_USERS, per_round, rounds, sampling=s, clip=0.2) for s in ("fixed", "poisson")}
    multipliers = {name: calibrated(plan, epsilon, DELTA).noise for name, plan in plans.items()}
    return {**multipliers, "mixed": plans["fixed"].with_noise(multipliers["poisson"]).price(DELTA)}


def scores(data: Path, net: Any, size: str, *, development: bool = False) -> dict[str, Any]:
    """Perplexity and accuracy on sentences of users that nobody trained on, and each such user's mean loss of a word."""
    kept = users(data, SIZES[size].sentences)[2 if development else 1]
    each = max(1, SIZES[size].tested // len(kept))
    texts = [own[:: max(1, len(own) // each)] for own in kept]
    losses = [round(math.log(next_word_scores(net, own)["perplexity"]), 5) for own in texts]
    return {**next_word_scores(net, [text for own in texts for text in own]), "user_losses": losses}


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
