"""Attacks on counts: laws of attacks, exact success in small worlds, and the bound of the promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.attacks.counts.channel import CountChannel
from textveil.attacks.counts.linkage import LinkageAttack
from textveil.attacks.counts.passage import PassageAttack, PhraseAttack
from textveil.attacks.counts.seen import CountsSeen
from textveil.attacks.exposure import AnswersSeen, Labelled, Owners, TwoWorlds
from textveil.core import Adjacency, BadInput, Guarantee, LimitedPrecision, Unit
from textveil.noise import secure
from textveil.testing import assert_binomial, check_attack

LEAK = {"nothing": 1e-9, "all": 50.0}


def documents(count: int = 30, width: int = 12) -> np.ndarray:
    return secure().below(4, (count, width)) + np.eye(count, width, dtype=np.int64)


def two_worlds(what: str) -> TwoWorlds:
    return TwoWorlds(CountChannel(LEAK[what], np.array([[1, 0, 2], [4, 0, 2]]), clamp=False))


def linked(what: str) -> CountsSeen:
    rows = documents()
    rows[:, 0] = np.arange(len(rows))  # no two alike
    truth = secure().permutation(len(rows))
    channel = CountChannel(LEAK[what], rows, clamp=False)
    released = channel.sample(truth, secure())
    channel = CountChannel(LEAK[what], rows, False, released)
    return CountsSeen(channel, rows=np.arange(len(rows)), truth=Owners(truth))


@pytest.mark.parametrize(
    ("attack", "factory"),
    [(PassageAttack(tries=2000), two_worlds), (LinkageAttack(), linked)],
    ids=["passage", "linkage"],
)
def test_laws_of_attacks(attack, factory):
    check_attack(attack, factory)


def exact_success(rate: float, shift: int) -> float:
    """sum_y max(P(y | 0), P(y | shift)) / 2."""
    a = math.exp(-rate)
    y = np.arange(-3000, 3000)
    law = [(1 - a) / (1 + a) * a ** np.abs(y - x) for x in (0, shift)]
    return float(np.maximum(*law).sum() / 2)


@pytest.mark.parametrize("clamp", [True, False])
def test_the_easiest_passage_is_found_exactly_as_often_as_it_can_be(clamp):
    """False alarm: one in a million. Clamping at 0 joins outcomes that favour the same world, so it changes nothing here."""
    rate, size = 0.1, 10
    channel = CountChannel(rate, np.array([[0, 5], [size, 5]]), clamp=clamp)
    found = PassageAttack(tries=20_000).run(TwoWorlds(channel), rng=secure())
    assert_binomial(found.hits, found.tries, exact_success(rate, size))
    assert found.upper == pytest.approx(math.e / (1 + math.e))
    assert exact_success(rate, size) < found.upper


def test_no_passage_refutes_the_promise():
    """False alarm: below 1e-6 (the success stays far below the bound)."""
    promise = Guarantee(LimitedPrecision(1.0, 10), Unit.DOCUMENT, Adjacency.METRIC)
    worlds = np.array([np.zeros(40, np.int64), np.repeat([1, 0], [10, 30])])
    found = PassageAttack(tries=5000).run(TwoWorlds(CountChannel(0.1, worlds)), rng=secure())
    assert not found.refutes(promise, 0.999999)


def test_too_little_noise_is_refuted():
    promise = Guarantee(LimitedPrecision(1.0, 10), Unit.DOCUMENT, Adjacency.METRIC)
    channel = CountChannel(0.3, np.array([[0, 1], [10, 1]]))  # three times the rate that was promised
    assert PassageAttack(tries=20_000).run(TwoWorlds(channel), rng=secure()).refutes(promise)


def test_likelihoods_are_those_of_the_law():
    rate, clamp_at = 0.4, 6
    a = math.exp(-rate)
    channel = CountChannel(rate, np.array([[0], [2], [5]]), clamp=True)
    seen = np.arange(clamp_at)[:, None]
    y = np.arange(-200, 0)
    for column, x in enumerate((0, 2, 5)):
        exact = (1 - a) / (1 + a) * a ** np.abs(seen[:, 0] - x)
        exact[0] += ((1 - a) / (1 + a) * a ** np.abs(y - x)).sum()
        base = (1 - a) / (1 + a) * a ** np.abs(seen[:, 0])
        base[0] += ((1 - a) / (1 + a) * a ** np.abs(y)).sum()
        assert np.allclose(channel.log_odds(seen)[:, column], np.log(exact / base))


def test_unique_phrases_are_found_without_noise_and_lost_in_much():
    rows = np.eye(50, dtype=np.int64) * 3
    order = secure().permutation(50)
    for rate, least, most in ((20.0, 50, 50), (1e-6, 0, 20)):  # 20 of 50 by chance 1/50: below 1e-15
        released = CountChannel(rate, rows[order]).sample(np.arange(50), secure())
        table = CountChannel(rate, rows, released=released)
        truth = np.argsort(order)
        found = PhraseAttack().run(CountsSeen(table, phrases=rows, truth=Owners(truth)), rng=secure())
        assert least <= found.hits <= most


@pytest.mark.parametrize("attack", [PassageAttack(), LinkageAttack(), PhraseAttack()])
def test_what_is_missing_is_named(attack):
    with pytest.raises(BadInput):
        attack.run(AnswersSeen(Labelled([], [])), rng=secure())
    with pytest.raises(BadInput):
        attack.run(attack.sees(CountChannel(1.0, np.array([[1]]))), rng=secure())
