"""The private estimators: scikit-learn's manners, the promise, users, bad input; and the Trainer-shaped call."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from textveil.core import Approx, BadInput, Shape, Unit, UnknownName
from textveil.core.events import PoissonSampled
from textveil.text.vectors import from_arrays
from textveil.training import Classifier, LanguageModel, Plan, Tagger, Trainer
from textveil.training.private_model import rounded

PEOPLE, TOWNS = "anna boris clara david".split(), "bern lima oslo riga".split()
WORDS = [*PEOPLE, *TOWNS, "lives", "in", "wrote", "from", "."]


@pytest.fixture(scope="module")
def vectors():
    return from_arrays(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 8)).astype(np.float32))


def sentences(count, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        who, where = rng.choice(PEOPLE).title(), rng.choice(TOWNS).title()
        if rng.random() < 0.5:
            made.append(([who, "lives", "in", where], ["B-PER", "O", "O", "B-LOC"]))
        else:
            made.append(([who, "wrote", "from", where, "."], ["B-PER", "O", "O", "B-LOC", "O"]))
    return [w for w, _ in made], [t for _, t in made]


def small(units, **more):
    """Everybody in every batch: priced in closed form. What must be learnt is drawn with a seed, so that it always is."""
    return Plan(noise=2.0, batch=units, examples=units, steps=30, clip=0.5, **more)


@pytest.mark.parametrize("output", ["crf", "softmax"])
def test_a_tagger_learns_and_promises(vectors, output):
    X, y = sentences(120)
    tagger = Tagger(output, vectors, hidden=8, affix=2, epsilon=50.0, delta=1e-3, rate=0.03, seed=0)
    plan = small(120)
    assert tagger.fit(X, y, plan=plan) is tagger
    test, gold = sentences(30, seed=9)
    assert tagger.score(test, gold) > 0.9
    assert tagger.guarantee_.label == "seeded"
    promise = tagger.set_params(seed=None).promise(plan)
    assert promise.loss == Approx(plan.epsilon(1e-3), 1e-3) and promise.unit is Unit.EXAMPLE
    assert any("set of tags is public" in a for a in promise.assumes)
    assert tagger.losses([(X[0], y[0])]).shape == (1,)


def test_the_event_is_the_plans_and_needs_public_facts_only():
    tagger = Tagger(epsilon=1.0, delta=1e-4, epochs=2, batch=100)
    plan = tagger.plan(500)
    assert plan.epsilon(1e-4) <= 1.0
    event = tagger.event(plan)
    assert isinstance(event.noise, PoissonSampled) and event.noise.probability == 0.2 and event.times == 10
    whole = Tagger(epsilon=1.0, delta=1e-4, epochs=2, batch=500).event(Shape(units=500))
    assert whole.times == 2 and whole.mechanism == "training.tagger"
    with pytest.raises(BadInput, match="must be declared"):
        tagger.event()
    assert Tagger(epsilon=1.0, seed=3).event(Plan(1.0, 10, 100, 5)).noise.loss.label == "seeded"


def test_a_ledger_releases_a_model(vectors, tmp_path):
    from textveil.accounting import Ledger

    X, y = sentences(30)
    tagger = Tagger(vectors=vectors, hidden=4, affix=0, epsilon=2.0, delta=1e-2, epochs=2, batch=30, examples=30)
    release = Ledger(tmp_path / "l.ledger").release(tagger, (X, y), Shape())
    assert release.value.guarantee_.loss.epsilon <= 2.0 and not hasattr(tagger, "net_")
    assert len(release.value.predict(X[:2])) == 2 and release.entry


def test_scikit_learn_can_copy_them(vectors):
    from sklearn.base import clone

    for model in (
        Tagger("softmax", epsilon=2.0, clip=0.7),
        Classifier(epsilon=2.0),
        LanguageModel(["a", "b"], epsilon=1.0),
    ):
        twin = clone(model)
        assert twin.get_params() == model.get_params() and repr(twin) == repr(model)
    assert Tagger().set_params(epochs=3).epochs == 3
    with pytest.raises(UnknownName):
        Tagger(epsilom=1.0)


def test_without_epsilon_there_is_no_promise(vectors):
    X, y = sentences(40)
    tagger = Tagger(vectors=vectors, hidden=6, affix=0, epochs=10, batch=8, rate=0.02).fit(X, y)
    assert tagger.score(X, y) > 0.9 and tagger.guarantee_.label == "heuristic" and tagger.plan_ is None


def test_a_classifier(vectors):
    rng = np.random.default_rng(3)
    labels = rng.choice(["people", "towns"], 100)
    texts = [" ".join(rng.choice(PEOPLE if label == "people" else TOWNS, 4)) for label in labels]
    model = Classifier(vectors, channels=8, epsilon=50.0, delta=1e-3, rate=0.02, seed=0).fit(
        texts, labels, plan=small(100)
    )
    assert model.score(texts, labels) > 0.9
    odds = model.predict_proba(texts[:3])
    assert odds.shape == (3, 2) and np.allclose(odds.sum(1), 1)


def test_a_language_model_of_users():
    texts = ["anna lives in bern", "boris lives in oslo"] * 20
    users = [f"user {n // 4}" for n in range(40)]
    shared = {"dimensions": 8, "hidden": 8, "epsilon": 50.0, "delta": 1e-3, "unit": "user", "seed": 0}
    model, before = LanguageModel(WORDS, rate=0.03, **shared), LanguageModel(WORDS, rate=1e-9, **shared)
    plan = Plan(noise=0.5, batch=10, examples=10, steps=30, clip=0.5, unit=Unit.USER)
    model.fit(texts, users=users, plan=plan)
    before.fit(texts, users=users, plan=plan)
    assert model.guarantee_.unit is Unit.USER
    assert model.perplexity(texts) < 0.6 * before.perplexity(texts)
    with pytest.raises(BadInput, match="needs the user of every example"):
        model.fit(texts, plan=plan)


BAD = {
    "words and tags": ((["Secret", "x"],), (["O"],), "sentence 0 has 2 words and 1 tags"),
    "numbers of sentences": ((["Secret"], ["x"]), (["O"],), "2 sentences and tags for 1"),
    "one string": (("Secret",), (["O"] * 6,), "one string"),
    "nothing": ((), (), "no example"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sentences(name, vectors):
    X, y, what = BAD[name]
    with pytest.raises(BadInput, match=what) as told:
        Tagger(vectors=vectors, epsilon=1.0).fit(X, y, plan=small(10))
    assert "Secret" not in str(told.value)


def test_a_tag_outside_the_declared_set(vectors):
    with pytest.raises(BadInput, match="sentence 0 has a tag outside the tag set; possible: O, B-PER"):
        Tagger(vectors=vectors, tags=["O", "B-PER"], epsilon=1.0).fit([["x"]], [["B-LOC"]])


def test_numbers_are_public_to_two_digits():
    assert [rounded(n) for n in (1, 99, 101, 14_041, 985_000)] == [1, 99, 100, 14_000, 980_000]
    assert [Tagger(**more).declared(14_041) for more in ({}, {"sampling": "fixed"}, {"examples": 9})] == [
        14_000,
        14_041,
        9,
    ]


def test_a_call_in_the_shape_of_trainer(tmp_path):
    from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertForSequenceClassification(BertConfig(vocab_size=50, num_labels=2, **sizes))
    rows = [{"input_ids": [1, 5 + i % 2 * 20, 6, 2], "attention_mask": [1] * 4, "labels": i % 2} for i in range(60)]
    args = SimpleNamespace(
        num_train_epochs=20, learning_rate=0.01, per_device_train_batch_size=10, output_dir=str(tmp_path)
    )
    trainer = Trainer(model=model, args=args, train_dataset=rows, epsilon=9.0, delta=1e-3, seed=0)
    assert (trainer.epochs, trainer.batch, trainer.rate) == (20, 10, 0.01) and "input_ids" not in repr(trainer)
    trainer.train(plan=Plan(noise=0.05, batch=60, examples=60, steps=40))
    assert trainer.guarantee_.label == "seeded"
    right = [
        int(logits.argmax()) == row["labels"] for logits, row in zip(trainer.predict_logits(rows), rows, strict=True)
    ]
    assert np.mean(right) > 0.9
    trainer.save_model()
    assert AutoModelForSequenceClassification.from_pretrained(tmp_path).num_labels == 2
