"""The guess that every word stayed itself, on channels small enough to enumerate. False alarms: 1e-6 per random test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from textveil.attacks.exposure import Attack, OriginalWords, TwoWorlds
from textveil.attacks.words.bayes import BayesAttack
from textveil.attacks.words.nearest import NearestAttack
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, BadParameter, registry
from textveil.noise import secure
from textveil.testing import check_attack

ALPHA = 1e-6
NAMES = ["a", "b", "c"]
PRIOR = np.array([0.5, 0.3, 0.2])
ROWS = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
STAY = 0.5 * 0.6 + 0.3 * 0.5 + 0.2 * 0.2


class Sampled:
    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def sample(self, ids, source):
        steps = np.cumsum(self.rows, axis=1)
        steps[:, -1] = 1.0
        return (source.uniforms(len(ids))[:, None] >= steps[ids]).sum(axis=1)


class Open(Sampled):
    def odds(self, ids):
        return self.rows[ids]


def test_exact_success_is_the_chance_of_staying(monkeypatch):
    monkeypatch.setattr("textveil.attacks.words.nearest._CELLS", 3)  # one row at a time
    found = NearestAttack().run(WordsSeen(NAMES, PRIOR, Open(ROWS)), rng=secure())
    assert found.exact
    assert found.value == pytest.approx(STAY)
    assert found.chance == found.best_prior == 0.5


def test_sampled_success_agrees_with_the_exact_one():
    found = NearestAttack(draws=50_000).run(WordsSeen(NAMES, PRIOR, Sampled(ROWS)), rng=secure())
    assert found.tries == 50_000
    assert binomtest(found.hits, found.tries, STAY).pvalue > ALPHA


def test_the_bayes_attack_is_never_worse():
    seen = WordsSeen(NAMES, PRIOR, Open(ROWS))
    assert NearestAttack().run(seen, rng=secure()).value <= BayesAttack().run(seen, rng=secure()).value


def test_truth_is_scored_word_by_word():
    truth = OriginalWords(np.array([0, 2, 2, -1, 1]))
    seen = WordsSeen(NAMES, PRIOR, Sampled(ROWS), observed=np.array([0, 1, 2, 2, 0]), truth=truth)
    found = NearestAttack().run(seen, rng=secure())
    assert (found.hits, found.tries) == (2, 5)
    assert found.chance == pytest.approx(1 / 5)  # the commonest word of the prior is the truth once
    assert found.best_prior == pytest.approx(2 / 5)


def test_wrong_use_is_named():
    with pytest.raises(BadInput, match=r"words\.nearest takes WordsSeen, not TwoWorlds"):
        NearestAttack().run(TwoWorlds(Open(ROWS)), rng=secure())
    with pytest.raises(BadParameter, match="draws"):
        NearestAttack(draws=0).run(WordsSeen(NAMES, PRIOR, Open(ROWS)), rng=secure())
    nothing = np.array([], dtype=int)
    with pytest.raises(BadInput, match="no released word"):
        NearestAttack().run(
            WordsSeen(NAMES, PRIOR, Open(ROWS), observed=nothing, truth=OriginalWords(nothing)), rng=secure()
        )


@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("kind", [Sampled, Open])
def test_it_keeps_every_law(kind, truth):
    words, released = 20, 2000

    def exposure(tells: str) -> WordsSeen:
        channel = kind(np.eye(words) if tells == "all" else np.full((words, words), 1 / words))
        secret = secure().below(words, released)
        observed = channel.sample(secret, secure())
        names, even = [str(i) for i in range(words)], np.full(words, 1 / words)
        return WordsSeen(names, even, channel, observed, truth=OriginalWords(secret) if truth else None)

    check_attack(NearestAttack(draws=5000), exposure)


def test_it_is_an_attack_with_a_name():
    assert isinstance(registry.make("attack", "words.nearest"), Attack)
