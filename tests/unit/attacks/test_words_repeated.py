"""A word that stands in many places: its outputs together give it away, and the promise was never about that."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.attacks.exposure import OriginalWords
from textveil.attacks.words.repeated import RepeatedAttack
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, Unit
from textveil.noise import secure
from textveil.recipes.words.channel import WordChannel
from textveil.testing.designs import cube
from textveil.text.vectors import from_arrays, load
from textveil.words import BRR


def exposure(**parameters) -> WordsSeen:
    design = cube()
    mechanism = BRR(epsilon=0.5, **parameters).fit(from_arrays(list(design.words), design.matrix, design.codes))
    prior = np.full(64, 1 / 64)
    return WordsSeen(list(design.words), prior, WordChannel(mechanism, prior))


@pytest.fixture(scope="module")
def seen() -> WordsSeen:
    return exposure()


@pytest.fixture(scope="module")
def seen_once() -> WordsSeen:
    return exposure(once=True)


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


def test_words_that_a_text_draws_once_gain_nothing_from_repeats(seen_once):
    """Within a text .06, as for a word that stands once; in twenty texts .33, since each of them draws it anew."""
    run = [
        RepeatedAttack(20, draws=60_000, candidates=64, **variant).run(seen_once, rng=secure())
        for variant in RepeatedAttack.variants(seen_once)
    ]
    assert [e.metric for e in run] == [
        "success on words that occur 20 times in one text",
        "success on words that occur in 20 texts",
    ]
    assert run[0].value < 0.13
    assert run[1].value > 0.2
    assert all(e.unit is Unit.DOCUMENT_TERM for e in run)
    promise = seen_once.channel.mechanism.guarantee_
    assert run[0].best_prior < 1  # one draw: it is held against the promise
    assert not run[0].refutes(promise)
    assert run[1].epsilon_floor() == 0


def test_where_each_occurrence_is_drawn_there_is_one_way_to_run_it(seen):
    assert RepeatedAttack.variants(seen) == ({},)


def released(seen: WordsSeen, **more) -> WordsSeen:
    """Texts of one word twenty times, beside another word."""
    truth = np.tile(np.repeat(np.arange(64), [21] + [20] * 63), 8)
    documents = np.repeat(np.arange(8 * 64), np.tile([21] + [20] * 63, 8))
    observed = seen.veil(truth, documents, secure())
    told = OriginalWords(truth)
    return WordsSeen(seen.vocabulary, seen.prior, seen.channel, observed, documents, truth=told, **more)


def test_on_a_release_repeats_count_within_a_text_or_across_texts(seen, seen_once):
    attack = RepeatedAttack(20, draws=60_000, candidates=64)
    by_place = attack.run(released(seen), rng=secure())
    assert by_place.tries == 512 and by_place.value > 0.15
    once = released(seen_once)
    within = attack.run(once, rng=secure())
    assert within.tries == 512 and within.value < 0.16  # .06 expected: eight standard deviations and more
    with pytest.raises(BadInput, match="no word of the release occurs 20 times in as many texts"):
        RepeatedAttack(20, across=True).run(once, rng=secure())  # each word stands in eight of them
    across = RepeatedAttack(8, across=True, draws=60_000, candidates=64).run(once, rng=secure())
    assert across.tries == 64


def test_draws_are_scored_once_and_kept_words_not_at_all(seen, seen_once):
    assert len(released(seen_once).draws[0]) == 512
    assert len(released(seen).draws[0]) == 8 * (21 + 63 * 20)
    some = released(seen, passing=np.arange(32))
    assert len(some.draws[0]) == 8 * 32 * 20 and some.draws[1].min() == 32
    assert some.word_chances[:32].sum() == 0 and some.word_chances.sum() == pytest.approx(1)
    shown = some.veil(np.arange(64), np.zeros(64, np.int64), secure())
    assert (shown[:32] == np.arange(32)).all()


@pytest.mark.parametrize("once", [False, True])
def test_twenty_outputs_of_the_bundled_vectors_give_half_of_the_words_away_unless_they_are_one_draw(once):
    """BRR at .3: about .03 for one output and .5 for twenty; limits are ten standard deviations of 400 tries, or nearly."""
    vectors = load()
    channel = WordChannel(BRR(epsilon=0.3, once=once).fit(vectors), vectors.prior)
    seen = WordsSeen(list(vectors.words), vectors.prior, channel)
    found = RepeatedAttack(20, tries=400, draws=20_000).run(seen, rng=secure())
    assert found.value < 0.14 if once else found.value > 0.3
    if not once:
        assert any("by the centre of the outputs" in note for note in found.notes)
