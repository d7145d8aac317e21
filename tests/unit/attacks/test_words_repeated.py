"""A word that stands in many places: its outputs together give it away, and the promise was never about that."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.attacks.exposure import OriginalWords
from textveil.attacks.words.repeated import RepeatedAttack
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput
from textveil.noise import secure
from textveil.recipes.words.channel import WordChannel
from textveil.testing.designs import cube
from textveil.text.vectors import from_arrays
from textveil.words import BRR


@pytest.fixture(scope="module")
def seen() -> WordsSeen:
    design = cube()
    mechanism = BRR(epsilon=0.5).fit(from_arrays(list(design.words), design.matrix, design.codes))
    prior = np.full(64, 1 / 64)
    return WordsSeen(list(design.words), prior, WordChannel(mechanism, prior))


def test_more_occurrences_give_more_away(seen):
    """Six bits, each right with chance .622: once .622^6 = .06; by a majority of twenty .83^6 = .33. The limits are ten
    standard deviations of 1,000 tries away, or nearly."""
    values = [RepeatedAttack(k, draws=60_000, candidates=64).run(seen, rng=secure()).value for k in (1, 20)]
    assert values[0] < 0.13
    assert values[1] > 0.2


def test_on_a_release_only_words_that_occur_often_enough_count(seen):
    truth = np.repeat([3, 5, 7, -1], [40, 19, 25, 30])
    observed = np.where(truth < 0, 0, truth)
    told = WordsSeen(seen.vocabulary, seen.prior, seen.channel, observed=observed, truth=OriginalWords(truth))
    found = RepeatedAttack(20).run(told, rng=secure())
    assert (found.hits, found.tries) == (3, 3)  # 3 twice, 7 once
    assert found.epsilon_floor() == 0  # nothing about a single occurrence follows
    with pytest.raises(BadInput, match="no word of the release occurs 50 times"):
        RepeatedAttack(50).run(told, rng=secure())
