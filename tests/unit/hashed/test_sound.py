"""The sound variant as a mechanism: its price, its noise, and that its table works like any other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.accounting import guarantee_of
from textveil.accounting.conversion import gaussian_mu
from textveil.accounting.prices import mu_of
from textveil.core import Adjacency, Approx, Shape, Unit
from textveil.hashed import load
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_decode import sentence_margins
from textveil.hashed.sound_descent import descend
from textveil.hashed.sound_features import rows_of
from textveil.hashed.sound_output import minimise, output_bound
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_pull import pull
from textveil.noise import seeded

TEXT = "The fee is due in May. Nothing else is said.\n\nTexas law governs this paper. The parties agree to it."
CLAUSE = (TEXT.index("Texas"), TEXT.index(" The parties"))
PLAN = FeaturePlan(bits=11)


def trainer(**changed):
    return SoundTrainer(2.0, 1e-6, "LAW", PLAN, SoundPlan(**changed))


def examples(count=40, **changed):
    reader = trainer(**changed).reader()
    for _ in range(count):
        reader.add(TEXT, [CLAUSE])
    return reader.examples()


class Recorded:
    """A source that notes what was asked of it."""

    def __init__(self):
        self.source, self.draws = seeded(5), []

    def normals(self, shape):
        self.draws.append(self.source.normals(shape))
        return self.draws[-1]


@pytest.mark.parametrize("method", ["descent", "output"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-8), (2.0, 1e-6), (32.0, 1e-5)])
def test_the_event_costs_what_was_asked_and_no_less(method, epsilon, delta):
    made = SoundTrainer(epsilon, delta, sound=SoundPlan(method=method))
    event = made.event(Shape())
    paid = guarantee_of(event, delta=delta).loss
    assert isinstance(paid, Approx) and paid.delta == delta
    assert epsilon * 0.9999 < paid.epsilon <= epsilon
    assert mu_of([event]) == pytest.approx(gaussian_mu(epsilon, delta), rel=1e-7)
    assert event.times == (made.sound.steps if method == "descent" else 1)


def test_units_are_those_of_the_house():
    for name, unit in (("paragraph", Unit.EXAMPLE), ("document", Unit.DOCUMENT)):
        event = trainer(unit=name).event(Shape())
        assert (event.unit, event.adjacency) == (unit, Adjacency.ADD_REMOVE)
        assert any(name in sentence for sentence in event.assumes)


def test_every_step_of_descent_draws_noise_of_the_priced_size_in_every_slot():
    made, noise, data = trainer(steps=4, shrink=0.0), Recorded(), examples()
    found = made.weights(data, noise=noise)
    assert [d.shape for d in noise.draws] == [(PLAN.slots,)] * made.event(Shape()).times
    weights = total = np.zeros(PLAN.slots)
    for draw in noise.draws:  # the slow oracle: each release is the pull at the last weights plus the priced noise
        total = total + pull(data, weights, made.sound) + made.event(Shape()).noise.multiplier * draw
        weights = made.sound.rate * total
    assert np.allclose(found, weights)
    assert (found != descend(data, made.sound, made.multiplier, None)).all()


def test_output_draws_once_with_the_deviation_of_its_bound():
    made, noise, data = trainer(method="output", shrink=0.0), Recorded(), examples()
    found = made.weights(data, noise=noise)
    assert [d.shape for d in noise.draws] == [(PLAN.slots,)]
    expected = minimise(data, made.sound) + made.multiplier * output_bound(made.sound) * noise.draws[0]
    assert np.allclose(found, expected)


def test_half_of_the_noise_would_be_noticed_by_its_price():
    event = trainer().event(Shape())
    cheaper = type(event.noise)(event.noise.multiplier / 2)
    paid = guarantee_of(type(event)(cheaper, event.unit, event.adjacency, times=event.times), delta=1e-6).loss
    assert paid.epsilon > 4.0


def test_no_size_of_the_data_enters_the_event():
    assert trainer().event(Shape(units=10)) == trainer().event(Shape(units=10**6)) == trainer().event(Shape())


@pytest.mark.parametrize("method", ["descent", "output"])
def test_a_trained_table_finds_saves_and_loads(tmp_path, method):
    plan = {"method": method} | ({"ridge": 2.0} if method == "output" else {})
    made = trainer(**plan)
    model = made.train(examples(300, **plan), noise=seeded(3))
    spans = model.predict([TEXT])[0]
    assert [(s.start, s.end, s.label) for s in spans] == [(*CLAUSE, "LAW")]
    assert spans[0].score > 0
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict([TEXT])[0] == spans
    assert again.guarantee_.loss == Approx(model.guarantee_.loss.epsilon, 1e-6)
    assert again.table_.sealed and again.table_.documents is None


def test_scores_of_sentences_are_inner_products():
    draws, sound = np.random.default_rng(1), SoundPlan(alone=1.0, among=0.25)
    weights = np.stack([np.zeros(PLAN.slots), draws.normal(size=PLAN.slots)], axis=1)
    rows = rows_of(tokenize(TEXT), PLAN, sound.rows)
    odds = rows.matrix(PLAN.slots) @ weights[:, 1] - sound.offset
    expected = odds + 0.25
    expected[odds.argmax()] += 0.75
    assert np.allclose(sentence_margins(rows, weights, sound), expected)
    assert sentence_margins(rows_of(tokenize(" "), PLAN, sound.rows), weights, sound).size == 0


def test_shrinking_follows_the_noise():
    made = trainer(steps=3)
    weights = made.weights(examples(1), noise=seeded(2))
    share = np.mean(weights == 0)  # slots of pure noise vanish with chance P(|N| < 1) = .683; alarm below 1e-9
    assert abs(share - math.erf(1 / math.sqrt(2))) < 6.2 * math.sqrt(0.25 / PLAN.slots)
