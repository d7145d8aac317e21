"""words.two_worlds on channels whose loss is known. False-alarm rate of each statistical test: 1e-6."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.attacks.exposure import TwoWorlds
from textveil.attacks.words.seen import WordsSeen
from textveil.attacks.words.two_worlds import Pairs, Question, TwoWorldsAttack, answer, choose
from textveil.core import Adjacency, BadInput, Guarantee, Metric, NoPromise, Unit
from textveil.noise import secure
from textveil.testing import check_attack

WORDS = 30
SURE = 1 - 1e-6


class Response:
    """k-ary randomized response: a word stays with odds e^loss : 1 against any one other."""

    excludes_input = False

    def __init__(self, loss: float, stated: float):
        self.loss, self.stated = loss, stated

    def pairs(self, count, source):
        first = source.below(WORDS, count)
        return Pairs(first, (first + 1) % WORDS, np.ones(count))

    def sample(self, ids, source):
        stays = source.uniforms(len(ids)) < math.exp(self.loss) / (math.exp(self.loss) + WORDS - 1)
        others = (ids + 1 + source.below(WORDS - 1, len(ids))) % WORDS
        return np.where(stays, ids, others)


class NeverItself(Response):
    excludes_input = True

    def sample(self, ids, source):
        return (ids + 1 + source.below(WORDS - 1, len(ids))) % WORDS


def exposure(channel) -> TwoWorlds:
    return TwoWorlds(channel, [f"word{i}" for i in range(WORDS)])


def promise(epsilon: float) -> Guarantee:
    return Guarantee(Metric(epsilon, "euclidean", 10.0), Unit.WORD, Adjacency.METRIC)


def test_finds_nearly_the_whole_loss_and_never_more():
    found = TwoWorldsAttack().run(exposure(Response(2.0, 2.0)), rng=secure())
    assert 1.5 < found.epsilon_floor(SURE) <= 2.0
    assert not found.refutes(promise(2.0), SURE) and found.refutes(promise(1.0), SURE)


def test_an_excluded_input_refutes_every_epsilon():
    found = TwoWorldsAttack(draws=1000).run(exposure(NeverItself(0.0, 100.0)), rng=secure())
    assert found.hits > 0 and found.false_hits == 0 and found.epsilon_floor() == math.inf
    assert found.refutes(promise(1e6))
    broken = Guarantee(NoPromise("as printed", "broken"), Unit.WORD, Adjacency.METRIC)
    assert "loss shown: infinite; claimed: 100" in found.verdict(broken)


def test_without_hits_nothing_is_impossible_that_was_not_seen():
    question = Question(math.inf, np.array([3]), False)
    found = answer(question, np.zeros(50, int), np.zeros(50, int), attack="a", distance=1.0, impossible=True)
    assert found.hits == 0 and found.epsilon_floor() == 0


def test_a_question_is_chosen_by_its_ratio():
    first, second = np.repeat([0, 1, 2], [50, 40, 10]), np.repeat([0, 1, 2], [50, 5, 45])
    assert choose(first, second, 3).asked.tolist() == [1] and not choose(first, second, 3).swapped
    assert choose(second, first, 3).swapped


def test_bad_parameters_and_channels_are_refused():
    with pytest.raises(BadInput, match="100 or more"):
        TwoWorldsAttack(draws=10).run(exposure(Response(1.0, 1.0)), rng=secure())
    with pytest.raises(BadInput, match="takes TwoWorlds, not WordsSeen"):
        TwoWorldsAttack().run(WordsSeen(["a"], np.ones(1), None), rng=secure())
    with pytest.raises(BadInput, match="proposes pairs"):
        TwoWorldsAttack().run(exposure(object()), rng=secure())


def test_keeps_the_laws_of_attacks():
    losses = {"nothing": 0.0, "all": 40.0}
    check_attack(TwoWorldsAttack(draws=400, pairs=6), lambda what: exposure(Response(losses[what], 1.0)))
