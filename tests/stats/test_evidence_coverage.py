"""Coverage of the intervals and floors, by enumeration: no simulation, so the false-alarm rate of these tests is 0.

Each sum runs over all possible counts with their exact binomial chances; a limit that is too bold by more than rounding
fails the test every time.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from textveil.attacks.evidence import Evidence
from textveil.core import Adjacency, Approx, Guarantee, Unit

ROUNDING = 1e-9


def guess(hits: int, tries: int, chance: float) -> Evidence:
    return Evidence("guess", "success", hits / tries, chance, hits, tries)


@pytest.mark.parametrize("level", [0.9, 0.99])
@pytest.mark.parametrize("tries", [1, 2, 7, 30, 200])
def test_interval_covers_at_its_level(tries, level):
    limits = np.array([guess(k, tries, 0.5).interval(level) for k in range(tries + 1)])
    for success in np.linspace(0, 1, 101):
        inside = (limits[:, 0] <= success + ROUNDING) & (success <= limits[:, 1] + ROUNDING)
        covered = binom.pmf(np.arange(tries + 1), tries, success)[inside].sum()
        assert covered >= level - ROUNDING


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("candidates", [2, 20])
@pytest.mark.parametrize("loss", [0.0, 0.5, 3.0])
def test_floor_of_a_guess_exceeds_the_true_loss_at_most_at_its_rate(loss, candidates, delta):
    """Randomized response that reveals with chance delta attains (loss, delta) exactly: the hardest case."""
    level, tries = 0.95, 60
    success = delta + (1 - delta) * math.exp(loss) / (math.exp(loss) + candidates - 1)
    floors = np.array([guess(k, tries, 1 / candidates).epsilon_floor(level, delta) for k in range(tries + 1)])
    chances = binom.pmf(np.arange(tries + 1), tries, success)
    assert chances[floors > loss + ROUNDING].sum() <= 1 - level + ROUNDING


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("false", [0.02, 0.2, 0.5])
@pytest.mark.parametrize("loss", [0.0, 0.7, 2.0])
def test_floor_of_two_worlds_exceeds_the_true_loss_at_most_at_its_rate(loss, false, delta):
    """The most powerful test that (loss, delta) leaves possible at this false-alarm rate."""
    level, tries = 0.95, 40
    gain = math.exp(loss)
    true = min(gain * false + delta, 1 - (1 - false - delta) / gain)
    counts = np.arange(tries + 1)
    chances = np.outer(binom.pmf(counts, tries, true), binom.pmf(counts, tries, false))
    bold = np.zeros_like(chances, dtype=bool)
    for hits in counts:
        for false_hits in counts:
            evidence = Evidence(
                "test", "detection", hits / tries, 0.5, int(hits), tries, false_hits=int(false_hits), false_tries=tries
            )
            bold[hits, false_hits] = evidence.epsilon_floor(level, delta) > loss + ROUNDING
    assert chances[bold].sum() <= 1 - level + ROUNDING


def test_refutation_has_power_where_the_promise_is_false():
    """The same machinery must catch a mechanism that loses twice what it says, nearly always."""
    tries, candidates = 2000, 10
    success = math.exp(2.0) / (math.exp(2.0) + candidates - 1)
    promise = Guarantee(Approx(1.0, 1e-6), Unit.WORD, Adjacency.REPLACE)
    caught = np.array([guess(k, tries, 1 / candidates).refutes(promise) for k in range(tries + 1)])
    assert binom.pmf(np.arange(tries + 1), tries, success)[caught].sum() > 0.999


def test_words_of_unequal_difficulty_keep_the_coverage():
    """A count of independent tries with unequal chances (half easy, half hard), convolved exactly, at its mean."""
    easy, hard, each, level = 0.95, 0.15, 20, 0.95
    counts = np.arange(each + 1)
    chances = np.convolve(binom.pmf(counts, each, easy), binom.pmf(counts, each, hard))
    mean = (easy + hard) / 2
    inside = [lo <= mean <= hi for lo, hi in (guess(k, 2 * each, 0.5).interval(level) for k in range(2 * each + 1))]
    assert chances[np.array(inside)].sum() >= level
