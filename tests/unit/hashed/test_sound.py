"""The sound variant as a mechanism: its price, its noise, and that its table works like any other."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import textveil as tv
from textveil.accounting import guarantee_of
from textveil.accounting.conversion import gaussian_mu
from textveil.accounting.prices import mu_of
from textveil.core import Adjacency, Approx, BadInput, BadParameter, Shape, Unit
from textveil.hashed import load
from textveil.hashed.extractor import Extractor
from textveil.hashed.kinds import TableKind
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_decode import sentence_margins
from textveil.hashed.sound_descent import descend
from textveil.hashed.sound_features import rows_of
from textveil.hashed.sound_output import minimise, output_bound
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_pull import pull
from textveil.hashed.sound_worlds import trainer_of
from textveil.noise import secure, seeded
from textveil.testing import check_mechanism

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
    for name, unit in (("paragraph", Unit.PARAGRAPH), ("document", Unit.DOCUMENT)):
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
    made = SoundTrainer(16.0, 1e-6, "LAW", PLAN, SoundPlan(**plan))
    model = made.train(
        examples(300, **plan), noise=secure()
    )  # both margins lie more than 9 deviations of the noise from 0
    spans = model.predict([TEXT])[0]
    assert [(s.start, s.end, s.label) for s in spans] == [(*CLAUSE, "LAW")]
    assert spans[0].score > 0
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict([TEXT])[0] == spans
    assert again.guarantee_.loss == Approx(model.guarantee_.loss.epsilon, 1e-6)
    assert again.table_.kind is TableKind.SOUND and again.table_.documents is None


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


class ReleasedWeights(SoundTrainer):
    """The trainer, seen by the numbers it releases."""

    def apply(self, data, *, noise):
        return super().apply(data, noise=noise).table_.weights


def test_it_keeps_the_laws_of_mechanisms():
    mechanism = ReleasedWeights(2.0, 1e-6, "LAW", FeaturePlan(bits=8), SoundPlan(steps=2, shrink=0.0))
    checked = check_mechanism(mechanism, ([TEXT] * 3, [[CLAUSE]] * 3))
    assert "a seed makes a draft" in checked.held and "the charge comes before the noise" in checked.held


def test_a_seed_changes_no_event_and_promises_nothing():
    secret, seed = SoundTrainer(2.0, 1e-6), SoundTrainer(2.0, 1e-6, seed=4)
    assert seed.event(Shape()) == secret.event(Shape())
    assert (secret.guarantee_.label, seed.guarantee_.label) == ("guarantee", "seeded")
    assert "seed" not in seed.public_params() and "4" not in json.dumps(seed.guarantee_.to_json())


def test_what_was_drawn_from_a_seeded_source_says_so_in_its_own_folder(tmp_path):
    model = trainer(steps=2).apply(([TEXT] * 2, [[CLAUSE]] * 2), noise=seeded(1))
    model.save(tmp_path / "draft")
    assert load(tmp_path / "draft").guarantee_.label == "seeded"
    assert trainer_of(load(tmp_path / "draft")).epsilon == 2.0


@pytest.mark.parametrize("method", ["descent", "output"])
@pytest.mark.parametrize(
    "documents",
    [([], []), ([""], [[]]), ([TEXT], [[]]), ([TEXT], [[(0, len(TEXT))]]), ([TEXT], [[CLAUSE]])],
    ids=["nothing", "no word", "no clause", "all clause", "one clause"],
)
def test_every_data_set_is_released(method, documents):
    """A refusal of one of two neighbours (the only clause removed, the only document removed) would tell them apart."""
    model = trainer(method=method, steps=2).apply(documents, noise=secure())
    assert model.table_.kind is TableKind.SOUND and np.isfinite(model.table_.weights).all()


@pytest.mark.parametrize("bad", [TEXT, [TEXT], ([TEXT], []), (TEXT, [[]]), ([3], [[]]), ([TEXT], [[(0, 9999)]]), None])
def test_what_is_no_pair_of_documents_and_spans_is_refused_before_a_charge(bad, tmp_path):
    ledger = tv.Ledger(tmp_path / "l")
    for mechanism in (trainer(), Extractor(plan=PLAN)):
        with pytest.raises(BadInput) as refused:
            ledger.release(mechanism, bad)
        assert "Texas" not in str(refused.value)
    assert ledger.entries() == []


def test_the_folder_of_a_sound_model_holds_public_constants_only(tmp_path):
    """Two corpora of different size, words and marks: their headers agree in all but the checksum of the weights."""
    headers = []
    for name, documents in (("a", ([TEXT] * 9, [[CLAUSE]] * 9)), ("b", (["Rent is due."], [[]]))):
        trainer(steps=2).apply(documents, noise=secure()).save(tmp_path / name)
        assert sorted(f.name for f in (tmp_path / name).iterdir()) == ["table.json", "weights.bin"]
        header = json.loads((tmp_path / name / "table.json").read_text())
        headers.append({k: v for k, v in header.items() if k not in ("files", "checksum")})
    assert headers[0] == headers[1]


def test_the_minimiser_is_found_where_the_fast_solver_gives_up(monkeypatch):
    """Otherwise some data sets would be refused, after their charge, and their neighbours not."""
    import scipy.optimize

    data, plan = examples(60, method="output"), trainer(method="output").sound
    usual = minimise(data, plan)
    gives_up = lambda function, start, **options: scipy.optimize.OptimizeResult(x=start)  # noqa: E731
    monkeypatch.setattr(scipy.optimize, "minimize", gives_up)
    slow = minimise(data, plan)
    assert 0 < np.linalg.norm(usual - slow) <= 2 * plan.tolerance / plan.ridge
    with pytest.raises(BadParameter, match="tolerance"):
        SoundPlan(tolerance=1e-12)
