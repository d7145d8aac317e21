"""Federated rounds on Flower beside a plain loop: `python bench/federated.py [--quick]`.

1,000 users, 50 a round, the CIFG-LSTM of 1.3 million parameters, DP-FedAvg with Poisson rounds. Each user has 32 invented
sentences of 12 words and takes two local steps a round. Three ways of the same rounds: a loop in this process without
Flower (train, clip, sum, noise), Flower's simulation with one actor, and with two. The first round is left out: it starts
Ray, imports torch and opens the data. Everybody has one thread. Seconds a round are medians.

    federation_over_loop   one actor against the loop (wanted: at most 1.5)
    two_workers_speedup    one actor against two (wanted: at least 1.6, on a quiet machine with two cores)
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from textveil.federated import (
    ClientSetup,
    Federation,
    FreeBook,
    LocalTraining,
    NetTask,
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


def federation(rounds: int) -> Federation:
    net = make_net()
    plan = RoundPlan(users=USERS, per_round=PER_ROUND, rounds=rounds, sampling="poisson", clip=0.2, noise=1.0)
    return Federation(plan, layout_of(net), flat_of(net))


def by_loop(rounds: int, sentences: int) -> list[float]:
    """Seconds of each round without Flower: the same local steps, clipping, sum, noise."""
    net, own, users, source = make_net(), federation(rounds), Invented(sentences)(), secure()
    state, seconds = RoundState(0, own.start.copy(), own.plan.clip), []
    for number in range(rounds):
        start, total, came = time.perf_counter(), np.zeros(own.layout.size), 0
        for user in drawn(own.plan, source, number):
            put_into(net, state.weights)
            update = LOCAL(net, users[user], seed=user, part=user).update
            total += clipped(update, float(own.plan.clip or 0), "flat", own.layout)
            came += 1
        reply = Reply(0, tuple(range(came)), total.astype(np.float32), came, float(came))
        state.weights = state.weights + aggregate(own, state, [reply], source)
        seconds.append((time.perf_counter() - start) / max(1, came) * PER_ROUND)
    return seconds[1:]


def by_flower(rounds: int, sentences: int, workers: int) -> list[float]:
    """Seconds of each round on Flower's simulation, for as many users as are drawn on average."""
    marks: list[tuple[float, int]] = []
    app = make_client_app(ClientSetup(NetTask("lm", make_net), Invented(sentences), LOCAL, threads=1))
    own = federation(rounds)

    def run(grid):  # type: ignore[no-untyped-def]
        marks.append((time.perf_counter(), 0))
        return run_rounds(
            grid, own, FreeBook(secure()), progress=lambda facts: marks.append((time.perf_counter(), facts.came))
        )

    simulate(run, app, workers)
    rounds_after_first = pairwise(marks[1:])
    return [(after - before) / max(1, came) * PER_ROUND for (before, _), (after, came) in rounds_after_first]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, one local step of a user")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rounds, sentences = (4, 16) if options.quick else (7, SENTENCES)
    parameters = sum(p.numel() for p in make_net().parameters())
    print(f"{USERS:,} users, {PER_ROUND} a round, {parameters:,} parameters, {sentences} sentences a user")
    seconds = {}
    ways = {
        "plain loop": lambda: by_loop(rounds, sentences),
        "Flower, one actor": lambda: by_flower(rounds, sentences, 1),
        "Flower, two actors": lambda: by_flower(rounds, sentences, 2),
    }
    for name, way in ways.items():
        found = way()
        seconds[name] = statistics.median(found)
        print(f"{name:20} {seconds[name]:7.2f} s a round (from {min(found):.2f} to {max(found):.2f})", flush=True)
    loop, one, two = seconds.values()
    ratios = {"federation_over_loop": one / loop, "two_workers_speedup": one / two}
    print(json.dumps({"room": "federated", "ratios": {name: round(value, 3) for name, value in ratios.items()}}))


if __name__ == "__main__":
    main()
