"""The Bayes attack on channels small enough to enumerate."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from textveil.attacks.exposure import Attack, OriginalWords, TwoWorlds
from textveil.attacks.words.bayes import BayesAttack, draw_words
from textveil.attacks.words.posterior import CountedPosterior, ExactPosterior
from textveil.attacks.words.seen import WordsSeen
from textveil.core import Adjacency, BadInput, Guarantee, Metric, Pure, Unit, UnknownName
from textveil.noise.source import secure

ALPHA = 1e-6  # false-alarm rate of each random test below


class Matrix:
    """A channel given by its transition matrix, as a sampler only."""

    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def sample(self, ids, source):
        steps = np.cumsum(self.rows, axis=1)
        steps[:, -1] = 1.0
        return (source.uniforms(len(ids))[:, None] >= steps[ids]).sum(axis=1)


class Open(Matrix):
    """The same, with its odds on the table."""

    def odds(self, ids):
        return self.rows[ids]


def randomized_response(words: int, loss: float) -> np.ndarray:
    rows = np.ones((words, words)) + np.eye(words) * (math.exp(loss) - 1)
    return rows / rows.sum(axis=1, keepdims=True)


def exposure(channel, prior, truth=None, **more) -> WordsSeen:
    words = [f"w{i}" for i in range(len(prior))]
    return WordsSeen(words, np.asarray(prior), channel, truth=None if truth is None else OriginalWords(truth), **more)


def best_success(rows: np.ndarray, prior: np.ndarray) -> float:
    """Slow oracle: try every rule that maps outputs to guesses."""
    words = len(prior)
    return max(
        sum(prior[rule[y]] * rows[rule[y], y] for y in range(words)) for rule in product(range(words), repeat=words)
    )


def sampling_success(rows: np.ndarray, prior: np.ndarray) -> float:
    total = 0.0
    for y in range(len(prior)):
        mass = sum(prior[u] * rows[u, y] for u in range(len(prior)))
        total += sum((prior[x] * rows[x, y]) ** 2 / mass for x in range(len(prior)) if mass > 0)
    return total


SKEWED = np.array([0.6, 0.2, 0.15, 0.05])
LOPSIDED = np.array([[0.1, 0.9, 0.0, 0.0], [0.0, 0.2, 0.8, 0.0], [0.3, 0.3, 0.4, 0.0], [0.25, 0.25, 0.25, 0.25]])


@pytest.mark.parametrize("words", [2, 10])
@pytest.mark.parametrize("loss", [0.0, 1.0, 4.0])
def test_exact_success_against_randomized_response(words, loss):
    even = np.full(words, 1 / words)
    found = BayesAttack().run(exposure(Open(randomized_response(words, loss)), even), rng=secure())
    assert found.exact
    assert found.value == pytest.approx(math.exp(loss) / (math.exp(loss) + words - 1))
    assert found.chance == pytest.approx(1 / words)
    assert found.epsilon_floor() == pytest.approx(loss, abs=1e-9)
    assert not found.refutes(Guarantee(Pure(loss), Unit.WORD, Adjacency.REPLACE))


@pytest.mark.parametrize("rows", [LOPSIDED, randomized_response(4, 1.5)])
def test_exact_success_equals_the_slow_oracle(rows):
    seen = exposure(Open(rows), SKEWED)
    assert BayesAttack("optimal").run(seen, rng=secure()).value == pytest.approx(best_success(rows, SKEWED))
    sampled = BayesAttack("sampling").run(seen, rng=secure())
    assert sampled.value == pytest.approx(sampling_success(rows, SKEWED))
    assert sampled.chance == pytest.approx((SKEWED**2).sum())
    assert sampled.best_prior == pytest.approx(0.6)


def test_blocks_do_not_change_the_sums(monkeypatch):
    rows, prior = randomized_response(50, 2.0), np.arange(1, 51) / 1275
    whole = ExactPosterior(Open(rows), prior)
    monkeypatch.setattr("textveil.attacks.words.posterior._CELLS", 350)  # seven rows at a time
    parts = ExactPosterior(Open(rows), prior)
    assert parts.success_of_best == pytest.approx(whole.success_of_best)
    assert parts.success_of_draw == pytest.approx(whole.success_of_draw)
    assert (parts.best(np.arange(50)) == whole.best(np.arange(50))).all()


class Steps:
    """A source whose uniforms are an even grid: draws become exact shares."""

    def uniforms(self, count):
        return (np.arange(count) + 0.5) / count


@pytest.mark.parametrize("cells", [4, 4_000_000])
def test_exact_draws_follow_the_posterior(monkeypatch, cells):
    monkeypatch.setattr("textveil.attacks.words.posterior._CELLS", cells)
    posterior = ExactPosterior(Open(LOPSIDED), SKEWED)
    joint = SKEWED[:, None] * LOPSIDED
    for y in range(4):
        shares = np.bincount(posterior.draw(np.full(10_000, y), Steps()), minlength=4) / 10_000
        assert shares == pytest.approx(joint[:, y] / joint[:, y].sum(), abs=2e-4)


@pytest.mark.parametrize(
    ("adversary", "oracle"), [("optimal", best_success), ("sampling", sampling_success)], ids=["optimal", "sampling"]
)
def test_learnt_success_agrees_with_the_exact_one(adversary, oracle):
    """alpha 1e-6: four words and 100,000 runs leave no doubt about the best rule, so the hits are binomial."""
    found = BayesAttack(adversary, draws=200_000).run(exposure(Matrix(LOPSIDED), SKEWED), rng=secure())
    assert found.tries == 100_000
    assert binomtest(found.hits, found.tries, oracle(LOPSIDED, SKEWED)).pvalue > ALPHA


def test_learning_and_scoring_never_share_a_run():
    """Outputs that say nothing: whoever scored on what it learnt from would beat chance at once."""
    words = 1000
    even = np.full(words, 1 / words)
    found = BayesAttack(draws=4_000).run(exposure(Matrix(np.full((words, words), 1 / words)), even), rng=secure())
    assert binomtest(found.hits, found.tries, 1 / words).pvalue > ALPHA


def test_truth_is_scored_and_chance_is_what_the_release_does_not_give():
    truth = np.array([0, 0, 1, 2, 3, -1, 0, 1])
    observed = np.array([0, 0, 1, 2, 3, 3, 1, 0])
    seen = exposure(Open(randomized_response(4, 9.0)), SKEWED, truth=truth, observed=observed)
    found = BayesAttack().run(seen, rng=secure())
    assert (found.hits, found.tries) == (5, 8)
    assert found.chance == pytest.approx(3 / 8)
    assert found.best_prior == pytest.approx(3 / 8)
    blind = BayesAttack("sampling").run(seen, rng=secure()).chance
    assert blind == pytest.approx((3 * 0.6 + 2 * 0.2 + 0.15 + 0.05 + 0) / 8)


def test_best_prior_is_the_truths_own_commonest_word():
    """A text that repeats one rare word: the public prior's guess scores 0, yet a floor against 0 would be a lie."""
    truth = np.full(1000, 3)
    seen = exposure(Matrix(np.full((4, 4), 0.25)), SKEWED, truth=truth, observed=np.full(1000, 2))
    found = BayesAttack(draws=1000).run(seen, rng=secure())
    assert found.chance == 0
    assert found.best_prior == 1
    assert found.epsilon_floor() == 0


def test_learnt_attack_on_truth_finds_a_broken_promise():
    """alpha far below 1e-6: the mechanism passes words through while it promises 0.5."""
    truth = draw_words(SKEWED, 2000, secure())
    seen = exposure(Matrix(np.eye(4)), SKEWED, truth=truth, observed=truth.copy())
    found = BayesAttack(draws=2000).run(seen, rng=secure())
    assert found.value == 1
    assert found.refutes(Guarantee(Metric(0.5, "line", "x", 3), Unit.WORD, Adjacency.METRIC))


def test_unseen_outputs_fall_back_to_what_works():
    prior = np.full(5, 0.2)
    copies = CountedPosterior(np.array([0, 1, 2]), np.array([0, 1, 2]), prior)
    assert copies.best(np.array([3, 4])).tolist() == [3, 4]
    noise = CountedPosterior(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([0.6, 0.1, 0.1, 0.1, 0.1]))
    assert noise.best(np.array([4])).tolist() == [0]
    assert noise.draw(np.array([4, 1]), secure()).tolist() == [0, 0]


def test_a_tie_goes_to_the_output_itself():
    learnt = CountedPosterior(np.array([0, 1, 2, 2]), np.array([1, 1, 2, 2]), np.full(3, 1 / 3))
    assert learnt.best(np.array([1])).tolist() == [1]


def test_rarely_seen_outputs_do_not_mislead_it():
    """Half of the words stay, the others go anywhere, each output is seen about twice: the best guess is the output.

    False alarm below 1e-6: counting alone overrules it for a quarter of the outputs, and is caught by the held-out draws
    unless the output is never right in about 90 cases of chance 1/2.
    """
    words, source = 1000, secure()
    inputs = source.below(words, 2000)
    outputs = np.where(source.uniforms(2000) < 0.5, inputs, source.below(words, 2000))
    learnt = CountedPosterior(inputs, outputs, np.full(words, 1 / words))
    assert (learnt.best(np.arange(words)) == np.arange(words)).mean() > 0.95


def test_upper_bound_comes_with_its_margin():
    class Bounded(Matrix):
        def posterior_bound(self, ids, source):
            return np.full(len(ids), 0.4)

    seen = exposure(Bounded(randomized_response(4, 0.5)), SKEWED)
    found = BayesAttack(draws=1000, bound_draws=800).run(seen, rng=secure())
    assert found.upper == pytest.approx(0.4 + math.sqrt(math.log(20) / 1600))
    assert BayesAttack(draws=1000, bound_draws=0).run(seen, rng=secure()).upper is None


def test_words_are_drawn_from_the_prior():
    prior = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    drawn = np.bincount(draw_words(prior, 10_000, Steps()), minlength=5)
    assert drawn.tolist() == [0, 2500, 0, 7500, 0]


def test_another_kind_of_exposure_is_refused():
    with pytest.raises(BadInput, match=r"words\.bayes takes WordsSeen, not TwoWorlds"):
        BayesAttack().run(TwoWorlds(None), rng=secure())


def test_wrong_parameters_are_named():
    seen = exposure(Matrix(np.eye(4)), SKEWED)
    with pytest.raises(UnknownName, match="adversary"):
        BayesAttack("clever").run(seen, rng=secure())
    with pytest.raises(BadInput, match="draws"):
        BayesAttack(draws=1).run(seen, rng=secure())
    empty = exposure(Matrix(np.eye(4)), SKEWED, truth=np.array([], dtype=int), observed=np.array([], dtype=int))
    with pytest.raises(BadInput, match="no released word"):
        BayesAttack().run(empty, rng=secure())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prior": np.array([0.5, 0.6])}, "sum to 1"),
        ({"prior": np.array([1.0])}, "one chance per word"),
        ({"observed": np.array([0, 2])}, "outside the vocabulary"),
        ({"observed": np.array([-1])}, "outside the vocabulary"),
        ({"observed": np.array([0.5])}, "whole numbers"),
        ({"truth": OriginalWords(np.array([0]))}, "another number of words"),
        ({"truth": OriginalWords(np.array([0])), "observed": np.array([0, 1])}, "another number of words"),
    ],
)
def test_inconsistent_exposures_are_refused(wrong, message):
    with pytest.raises(BadInput, match=message):
        WordsSeen(**{"vocabulary": ["a", "b"], "prior": np.array([0.5, 0.5]), "channel": None, **wrong})


def test_it_is_an_attack():
    assert isinstance(BayesAttack(), Attack)
    assert repr(BayesAttack(adversary="sampling")) == "BayesAttack(adversary='sampling')"
