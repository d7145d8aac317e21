"""Two worlds of the sound variant: they differ in one unit, and the noise is that of the promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.attacks.exposure import TwoWorlds
from textveil.attacks.hashed.retrain import RetrainAttack
from textveil.core import BadInput
from textveil.hashed import Extractor, FeaturePlan
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_worlds import ODD, SoundWorlds, trainer_of
from textveil.noise import seeded


@pytest.fixture(scope="module")
def marked(made_up_contracts):
    texts, spans = zip(*made_up_contracts(6), strict=True)
    return list(texts), list(spans)


def test_the_worlds_differ_in_one_unit(marked):
    worlds = SoundWorlds(SoundTrainer(2.0, 1e-6), *marked)
    assert worlds.worlds[1].count == worlds.worlds[0].count + 1
    assert worlds.expected.shape == (2, 1024) and not np.array_equal(*worlds.expected)


def test_the_first_sum_moves_by_no_more_than_the_bound(marked):
    """One step without noise: the weights are the rate times the sum, which one unit moves by at most 1."""
    plan = SoundPlan(steps=1)
    worlds = SoundWorlds(SoundTrainer(2.0, 1e-6, sound=plan), *marked)
    moved = np.linalg.norm(worlds.expected[1] - worlds.expected[0]) / plan.rate
    assert 0.9 < moved <= 1 + 1e-9  # the odd clause pulls with nearly all it may


def test_the_noise_is_that_of_the_multiplier(marked):
    """Slots that nothing touches hold noise alone: 20 releases of one step, deviation within 5 % (false alarm below 1e-6)."""
    plan = SoundPlan(steps=1)
    worlds = SoundWorlds(SoundTrainer(2.0, 1e-6, sound=plan), *marked)
    untouched = (worlds.expected == 0).all(axis=0)
    drawn = worlds.sample(np.zeros(20, np.int64), seeded(1))[:, untouched] / plan.rate
    assert drawn.size > 8000
    assert drawn.std() == pytest.approx(worlds.multiplier, rel=0.05)


def test_retrain_and_compare_runs_on_them(marked):
    worlds = SoundWorlds(SoundTrainer(2.0, 1e-6, sound=SoundPlan(steps=2)), *marked)
    found = RetrainAttack(tries=100).run(TwoWorlds(worlds), rng=seeded(1))
    assert found.tries == found.false_tries == 100 and math.isfinite(found.epsilon_floor())
    assert found == RetrainAttack(tries=100).run(TwoWorlds(worlds), rng=seeded(1))
    assert not any(word in note for note in found.notes for word in ODD.split()[:2])


def test_the_trainer_is_read_from_the_model(marked):
    trainer = SoundTrainer(3.0, 1e-5, "LAW", FeaturePlan(bits=12), SoundPlan(steps=2))
    again = trainer_of(trainer.apply(marked, noise=seeded(1)))
    assert again.sound == trainer.sound and again.plan == trainer.plan
    assert again.multiplier == pytest.approx(trainer.multiplier, rel=1e-6)
    with pytest.raises(BadInput, match="not trained under a promise"):
        trainer_of(Extractor(plan=FeaturePlan(bits=12)).fit(*marked))


def test_documents_without_a_mark_are_refused(marked):
    with pytest.raises(BadInput, match="no marked span"):
        SoundWorlds(SoundTrainer(2.0, 1e-6), marked[0], [[] for _ in marked[0]])
