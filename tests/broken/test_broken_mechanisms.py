"""Every faulty mechanism is caught, by the right law; their sound twins and the real mechanisms pass.

False alarms: each check of a sound mechanism fails with probability 1e-6 at most, on fresh noise in every run.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from textveil.testing import BrokenLaw, Worlds, check_mechanism
from textveil.testing import laws_of_conduct as conduct
from textveil.testing import laws_of_events as events
from textveil.testing import laws_of_promises as promises
from textveil.testing import laws_of_words as words
from textveil.text.vectors import from_arrays


def _load_neighbour(name: str):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


broken = _load_neighbour("broken_mechanisms")
broken_counts = _load_neighbour("broken_counts")

TRIES = 40_000
TEXTS = ["The cold and the warm.", "Hot, cool: cold?", "warm hot cool cold and the hot and the cool"]

FAULTY_WORDS = {
    "InputExcluded": promises.PROMISE,
    "LaplacePerCoordinate": promises.PROMISE,
    "ShapeOffByOne": promises.PROMISE,
    "ShapeOne": promises.PROMISE,
    "ShapeTwo": promises.PROMISE,
    "HalfTheNoise": promises.PROMISE,
    "NoNoiseAboveTwenty": promises.PROMISE,
    "FlipsTooFew": promises.PROMISE,
    "FlipsFirstBitsOnly": promises.PROMISE,
    "EpsilonFloor": conduct.LIMITS,
    "NoiseNeverShrinks": conduct.LIMITS,
    "SeedReused": conduct.SOURCE,
    "SeedReusedPerBatch": conduct.SOURCE,
    "DrawnOncePerWord": conduct.SOURCE,
    "GlobalNoise": conduct.SOURCE,
    "OwnNoise": conduct.SOURCE,
    "EditsInPlace": conduct.IN_PLACE,
    "DropsEmptyTexts": conduct.SIZES,
    "UnknownPasses": words.UNKNOWN_WORDS,
    "UnknownBySpelling": words.UNKNOWN_WORDS,
    "SecretlyKeeps": words.KEPT_WORDS,
    "FirstOfTheTied": words.TIED_WORDS,
    "InputOfTheTied": words.TIED_WORDS,
    "EventSeesData": events.PUBLIC,
    "EventCounts": events.PURE,
    "HidesItsSeed": events.SEEDED,
    "AnySignOfEpsilon": events.REFUSED,
    "RoundsItsParameter": events.ROUND_TRIP,
    "KeepsLetterCase": words.LETTER_CASE,
    "PublishesItsSeed": events.UNSEEN_SEED,
    "LogsAnArray": events.UNSEEN_SEED,
    "ValueErrorForZero": events.REFUSED,
}

COUNTS = [Worlds(np.ones(n), np.ones(n + 1)) for n in (0, 4, 9)] + [Worlds(np.ones(3), np.array([1.0, 1, 1, 50]))]
RARE = Worlds(["tea"] * 30, [*["tea"] * 30, "secret"], see=lambda found: "secret" in found)
FAULTY_NUMBERS = {
    "NoClip": (np.ones(30), COUNTS),
    "LeaksTwice": (np.ones(30), COUNTS),
    "ClipsTheNoise": (np.ones(30), COUNTS),
    "RefusesEmpty": (np.ones(30), COUNTS),
    "TellsAllNowAndThen": (np.ones(30), COUNTS),
    "DeltaIgnored": (np.ones(30), COUNTS),
    "RoundsToTensFirst": (np.ones(30), COUNTS),
    "RoundsNoiseTowardsZero": (np.ones(30), COUNTS),
    "ThresholdForgotten": (["tea"] * 30, [RARE]),
}


@pytest.fixture(scope="module")
def vectors():
    names = ["cold", "cool", "warm", "hot", "the", "and"]
    matrix = [[-2.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [2.0, 1.0], [0.5, -1.0], [-0.5, -1.0]]
    return from_arrays(names, matrix, np.array([[1], [3], [7], [15], [31], [63]], dtype=np.uint64))


@pytest.mark.parametrize(("name", "law"), FAULTY_WORDS.items())
def test_a_faulty_word_mechanism_is_caught(name, law, vectors):
    mechanism = getattr(broken, name)(epsilon=2.0).fit(vectors)
    with pytest.raises(BrokenLaw) as caught:
        check_mechanism(mechanism, list(TEXTS), tries=TRIES)
    assert caught.value.law == law
    assert mechanism.name in str(caught.value)


@pytest.mark.parametrize("name", FAULTY_NUMBERS)
def test_a_faulty_count_is_caught(name):
    sample, worlds = FAULTY_NUMBERS[name]
    with pytest.raises(BrokenLaw) as caught:
        check_mechanism(getattr(broken_counts, name)(), sample, worlds=worlds)
    assert caught.value.law == promises.PROMISE


@pytest.mark.parametrize("name", ["LeaksTwice", "ClipsTheNoise", "TellsAllNowAndThen"])
def test_the_plain_call_finds_worlds_of_its_own(name):
    """Without `worlds` the suite removes a unit of the sample; SoundCount passes the same call."""
    with pytest.raises(BrokenLaw) as caught:
        check_mechanism(getattr(broken_counts, name)(), np.ones(30))
    assert caught.value.law == promises.PROMISE
    assert promises.PROMISE in check_mechanism(broken_counts.SoundCount(), np.ones(30)).held


def test_a_declared_width_that_is_not_checked_is_caught():
    with pytest.raises(BrokenLaw) as caught:
        check_mechanism(broken_counts.RoundsItsWidth(), np.ones((5, 4)))
    assert caught.value.law == events.SHAPE


@pytest.mark.parametrize("name", ["SoundWords", "SoundBits"])
def test_a_sound_word_mechanism_passes(name, vectors):
    found = check_mechanism(getattr(broken, name)(epsilon=2.0).fit(vectors), list(TEXTS), tries=TRIES)
    assert found.skipped == {}
    assert len(found.evidence) >= 30


@pytest.mark.parametrize(
    ("name", "sample", "worlds"), [("SoundCount", np.ones(30), COUNTS), ("SoundHistogram", ["tea"] * 30, [RARE])]
)
def test_a_sound_count_passes(name, sample, worlds):
    found = check_mechanism(getattr(broken_counts, name)(), sample, worlds=worlds)
    assert promises.PROMISE in found.held
    assert len(found.evidence) == len(worlds)


def test_there_are_enough_faults():
    assert len(FAULTY_WORDS) + len(FAULTY_NUMBERS) >= 40
