"""Federated rounds on Flower beside a plain loop: `python bench/federated.py [--quick]`.

1,000 users, 50 a round, the CIFG-LSTM of 1.3 million parameters, DP-FedAvg with Poisson rounds. Each user has 32 invented
sentences of 12 words and takes two local steps a round. Three ways of the same round take turns within one Flower
simulation (Ray) of two actors: a loop in this process without Flower (train, clip, sum, noise), all users of a round in one
message to one actor, and half of them to each actor. So all three have the same neighbours on a busy machine, and ratios are
medians of paired rounds. The first turn is left out: it imports torch and opens the data. Everybody has one thread.

    federation_over_loop   one actor against the loop (wanted: at most 1.5)
    two_workers_speedup    one actor against two (wanted: at least 1.6, on a quiet machine with two cores)
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from textveil.federated import (
    ClientSetup,
    Federation,
    FreeBook,
    LocalTraining,
    NetTask,
    Roster,
    RoundPlan,
    make_client_app,
    run_rounds,
)
from textveil.federated.clipping import clipped
from textveil.federated.messages import Reply
from textveil.federated.rounds import aggregate, drawn
from textveil.federated.simulation import simulate
from textveil.federated.state import RoundState
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.nets.fit import own_randomness
from textveil.nets.language_model import CIFGLanguageModel
from textveil.noise import secure
from textveil.text.vectors import load

USERS, PER_ROUND, SENTENCES, LENGTH = 1000, 50, 32, 12
LOCAL = LocalTraining("sgd", rate=0.5, batch=16)


def words() -> list[str]:
    return list(load("default").words)[:10_000]


def make_net() -> CIFGLanguageModel:
    with own_randomness(0):
        return CIFGLanguageModel.of(words())


@dataclass(frozen=True)
class Invented:
    """Sentences of frequent words, the same wherever they are made."""

    sentences: int

    def __call__(self) -> list[list[str]]:
        rng, known = np.random.default_rng(5), np.array(words()[:3000])
        drawn_words = known[rng.integers(0, len(known), (USERS, self.sentences, LENGTH))]
        return [[" ".join(sentence) for sentence in own] for own in drawn_words.tolist()]


def federation() -> Federation:
    net = make_net()
    plan = RoundPlan(users=USERS, per_round=PER_ROUND, rounds=1, sampling="poisson", clip=0.2, noise=1.0)
    return Federation(plan, layout_of(net), flat_of(net))


class Loop:
    """A round without Flower: the same local steps, clipping, sum and noise."""

    def __init__(self, own: Federation, sentences: int) -> None:
        self.own, self.net, self.users = own, make_net(), Invented(sentences)()

    def round(self) -> int:
        own, source, total, came = self.own, secure(), np.zeros(self.own.layout.size), 0
        state = RoundState(0, own.start.copy(), own.plan.clip)
        for user in drawn(own.plan, source, 1):
            put_into(self.net, state.weights)
            update = LOCAL(self.net, self.users[user], seed=user, part=user).update
            total += clipped(update, float(own.plan.clip or 0), "flat", own.layout)
            came += 1
        reply = Reply(0, tuple(range(came)), total.astype(np.float32), came, float(came))
        aggregate(own, state, [reply], source)
        return came


def on_flower(grid: Any, own: Federation, nodes: int) -> int:
    """One round over so many nodes; how many users came."""
    came: list[int] = []
    roster = Roster(tuple(grid.get_node_ids())[:nodes])
    state = run_rounds(grid, own, FreeBook(secure()), roster=roster, progress=lambda facts: came.append(facts.came))
    assert not state.refused, state.refused
    return came[0]


def per_fifty(way: Callable[[], int]) -> float:
    """Seconds of a round, for as many users as are drawn on average."""
    start = time.perf_counter()
    came = way()
    return (time.perf_counter() - start) / max(1, came) * PER_ROUND


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, one local step of a user")
    options = parser.parse_args()
    torch.set_num_threads(1)
    turns, sentences = (4, 16) if options.quick else (8, SENTENCES)
    own = federation()
    print(f"{USERS:,} users, {PER_ROUND} a round, {own.layout.size:,} parameters, {sentences} sentences a user")
    app = make_client_app(ClientSetup(NetTask("lm", make_net), Invented(sentences), LOCAL, threads=1))

    def race(grid: Any) -> list[tuple[float, float, float]]:
        loop, seconds = Loop(own, sentences), []
        ways = (loop.round, lambda: on_flower(grid, own, 1), lambda: on_flower(grid, own, 2))
        for turn in range(turns + 1):
            times = tuple(
                per_fifty(way) for way in (ways if turn else ways[::-1])
            )  # first both actors, to warm them up
            if turn:
                print(
                    f"loop {times[0]:6.2f} s   one actor {times[1]:6.2f} s   two actors {times[2]:6.2f} s", flush=True
                )
                seconds.append(times)
        return seconds

    rows = simulate(race, app, 2)
    ratios = {
        "federation_over_loop": statistics.median(one / loop for loop, one, _ in rows),
        "two_workers_speedup": statistics.median(one / two for _, one, two in rows),
    }
    print(json.dumps({"room": "federated", "ratios": {name: round(value, 3) for name, value in ratios.items()}}))


if __name__ == "__main__":
    main()
