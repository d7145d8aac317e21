"""The private estimators: scikit-learn's manners, the promise, users, bad input; and the Trainer-shaped call."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from textveil.core import Approx, BadInput, Shape, TextveilError, Unit, UnknownName
from textveil.core.events import PoissonSampled
from textveil.noise import secure, seeded
from textveil.text.vectors import from_arrays
from textveil.training import Classifier, LanguageModel, Tagger, Trainer, TrainingPlan, Vocabulary
from textveil.training.plan import price_together
from textveil.training.private_model import rounded

PEOPLE, TOWNS = "anna boris clara david".split(), "bern lima oslo riga".split()
PLAN = TrainingPlan(noise=4.0, batch=10, examples=50, steps=2)
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
    return TrainingPlan(noise=2.0, batch=units, examples=units, steps=30, clip=0.5, **more)


@pytest.mark.parametrize("output", ["crf", "softmax"])
def test_a_tagger_learns_and_promises(vectors, output):
    X, y = sentences(120)
    tagger = Tagger(output, vectors, hidden=8, affix=2, epsilon=50.0, delta=1e-3, rate=0.03, seed=0)
    plan = small(120)
    assert tagger.fit(X, y, plan=plan) is tagger
    test, gold = sentences(30, seed=9)
    assert tagger.score(test, gold) > 0.9
    assert tagger.guarantee_.label == "seeded"
    promise = tagger.promise(plan)
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
    seeded_one = Tagger(epsilon=1.0, delta=1e-4, epochs=2, batch=100, seed=3)
    assert seeded_one.event(plan) == event  # what a seed means is decided where it is charged


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


@pytest.mark.parametrize("labels", [[0, 1], [1.5, 2.5], [True, False], ["b", "a"]], ids=repr)
def test_labels_come_back_as_what_they_are(vectors, labels, tmp_path):
    from textveil.training import load

    texts = ["anna boris", "bern lima"] * 20
    model = Classifier(vectors, channels=4, epochs=8, batch=40, rate=0.1).fit(texts, np.array(labels * 20))
    assert model.predict(texts[:2]).tolist() == labels and model.score(texts, labels * 20) == 1.0
    assert [type(v) for v in model.predict(texts[:2]).tolist()] == [type(v) for v in labels]
    assert model.classes_.tolist() == sorted(labels)
    loaded = load(model.save(tmp_path / "model"))
    assert loaded.predict(texts[:2]).tolist() == labels and loaded.classes_.tolist() == sorted(labels)


def test_settings_have_one_list_of_names():
    from dataclasses import fields

    from textveil.training.settings import SettingNames, Settings

    assert {f.name: f.type for f in fields(Settings)} == {
        name: kind.__forward_arg__ for name, kind in SettingNames.__annotations__.items()
    }


PICKLED = {
    "classifier": (lambda v: Classifier(v, channels=4), lambda X, y: ([" ".join(x) for x in X], [len(x) for x in X])),
    "tagger": (lambda v: Tagger("softmax", v, hidden=4, affix=0), lambda X, y: (X, y)),
    "language model": (
        lambda v: LanguageModel(WORDS, hidden=4, dimensions=4),
        lambda X, y: ([" ".join(x) for x in X],),
    ),
}


@pytest.mark.parametrize("name", PICKLED)
def test_a_fitted_model_can_be_pickled_and_holds_no_example(name, vectors):
    import pickle

    make, given = PICKLED[name]
    X, y = sentences(20)
    data = given([[*x[:-1], "Zebulonia"] if i == 0 else x for i, x in enumerate(X)], y)
    model = (
        make(vectors)
        .set_params(epsilon=5.0, delta=1e-3)
        .fit(*data, plan=TrainingPlan(noise=4.0, batch=20, examples=20, steps=1))
    )
    stored = pickle.dumps(model)
    twin = pickle.loads(stored)
    assert b"Zebulonia" not in stored and b"zebulonia" not in stored
    assert twin.guarantee_ == model.guarantee_ and twin.score(*data) == model.score(*data)


def test_scikit_learn_takes_the_classifier_for_one(vectors):
    from sklearn.base import is_classifier
    from sklearn.metrics import get_scorer
    from sklearn.model_selection import StratifiedKFold, check_cv

    texts, labels = ["anna boris", "bern lima"] * 12, [0, 1] * 12
    model = Classifier(vectors, channels=4, epochs=4, batch=24, rate=0.1).fit(texts, labels)
    assert isinstance(check_cv(3, labels, classifier=is_classifier(model)), StratifiedKFold)
    assert get_scorer("roc_auc")(model, texts, labels) == 1.0
    assert get_scorer("accuracy")(model, texts, labels) == model.score(texts, labels)


def test_a_language_model_of_users():
    texts = ["anna lives in bern", "boris lives in oslo"] * 20
    users = [f"user {n // 4}" for n in range(40)]
    shared = {"dimensions": 8, "hidden": 8, "epsilon": 50.0, "delta": 1e-3, "unit": "user", "seed": 0}
    model, before = LanguageModel(WORDS, rate=0.03, **shared), LanguageModel(WORDS, rate=1e-9, **shared)
    plan = TrainingPlan(noise=0.5, batch=10, examples=10, steps=30, clip=0.5, unit=Unit.USER)
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


def test_numbers_are_public_to_two_digits_and_never_exact():
    assert [rounded(n) for n in (1, 7, 59, 99, 101, 14_041, 985_000)] == [10, 10, 60, 100, 100, 14_000, 980_000]
    sizes = Counter(rounded(n) for n in range(1, 2_000))
    assert min(n for size, n in sizes.items() if size < 2_000) >= 9  # no public figure stands for one number alone
    assert [Tagger(**more).declared(14_041) for more in ({}, {"sampling": "fixed"}, {"examples": 9})] == [
        14_000,
        14_041,
        9,
    ]


def test_a_delta_that_allows_to_show_somebody_is_refused():
    with pytest.raises(TextveilError, match=r"delta 0\.2 is .* 59"):
        Tagger(epsilon=1.0, delta=0.2, examples=59).event()
    plan = TrainingPlan(noise=4.0, batch=10, examples=50, steps=2)
    for refused in (lambda m: m.event(plan), lambda m: m.plan(50), lambda m: m.fit(["a b"] * 9, plan=plan)):
        with pytest.raises(TextveilError, match=r"delta 0\.02 is .* 50"):
            refused(LanguageModel(["a"], hidden=2, dimensions=2, epsilon=1.0, delta=0.02))
    assert Tagger(epsilon=1.0, delta=0.2, examples=59, allow_large_delta=True).event().times > 0


def test_tags_and_classes_that_were_not_declared_are_named():
    assert Tagger(tags=["O", "B-PER"]).passes() == () == Classifier(classes=["x", "y"]).passes()
    assert Tagger().passes() == ("the list of tags was taken from the training file",)
    assert Classifier().passes() == ("the list of classes was taken from the training file",)
    taken = [any("taken from the training data" in a for a in m.event(PLAN).assumes) for m in (Tagger(), Classifier())]
    assert taken == [True, True] and LanguageModel().passes() == ()


def test_every_event_names_the_grid_of_floating_point():
    for model in (Tagger(), Classifier(), LanguageModel(), Trainer()):
        assert any("single precision" in assumed for assumed in model.event(PLAN).assumes)


def test_the_plan_that_is_charged_is_the_plan_that_is_run(vectors, tmp_path):
    """47 examples are public as 50; the shape says 40, which was priced (3.22) while 50 (4.75) was run."""
    from textveil.accounting import Ledger

    X, y = sentences(47)
    tagger = Tagger(vectors=vectors, hidden=2, affix=0, epsilon=3.0, delta=1e-2, epochs=2, batch=10)
    release = Ledger(tmp_path / "l.ledger").release(tagger, (X, y), Shape(units=40))
    plan = release.value.plan_
    assert plan.examples == 40 and plan.event().noise == release.event.noise and plan.steps == release.event.times
    tagger.event(Shape(units=40))
    assert tagger.set_params(epochs=1).apply((X, y), noise=secure()).plan_.examples == 50  # an event of other settings


CANNOT = {
    "one string": (LanguageModel(WORDS, epsilon=3.0), "anna lives in bern", "one string"),
    "no tags": (Tagger(epsilon=3.0), [["anna"]], "needs the tags of every sentence"),
    "no users": (LanguageModel(WORDS, epsilon=3.0, unit="user"), ["anna"], "needs the user of every example"),
    "another number": (
        LanguageModel(WORDS, epsilon=3.0, sampling="fixed", examples=9),
        ["anna"],
        "exactly the declared",
    ),
}


@pytest.mark.parametrize("name", CANNOT)
def test_data_that_cannot_be_trained_on_is_refused_before_the_charge(name, tmp_path):
    from textveil.accounting import Ledger

    model, data, why = CANNOT[name]
    ledger = Ledger(tmp_path / "l.ledger")
    with pytest.raises(BadInput, match=why):
        model.check_data(data, Shape())
    with pytest.raises(BadInput, match=why):
        ledger.release(model.set_params(epochs=1, batch=9, delta=1e-3), data, Shape(units=9))
    assert ledger.entries() == []


def test_what_was_drawn_with_a_seed_promises_nothing(vectors):
    X, y = sentences(12)
    tagger = Tagger(vectors=vectors, hidden=2, affix=0, epsilon=9.0, delta=1e-3, epochs=1, batch=12, examples=12)
    assert tagger.apply((X, y), noise=seeded(1)).guarantee_.label == "seeded"
    assert tagger.set_params(seed=1).apply((X, y), noise=secure()).guarantee_.label == "guarantee"


def test_steps_done_again_are_in_the_promise(tmp_path):
    model = LanguageModel(WORDS, dimensions=2, hidden=2, epsilon=9.0, delta=1e-3)
    plan, texts = TrainingPlan(noise=1.5, batch=10, examples=40, steps=6), ["anna lives in bern"] * 40

    def stop(progress):
        if progress.step == 4:
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            model.fit(texts, plan=plan, checkpoint=tmp_path / "state.pt", progress=stop)
    model.fit(texts, plan=plan, checkpoint=tmp_path / "state.pt")
    assert model.history_.repeated == 8
    spent = plan.event(begun=[14])
    assert model.guarantee_.loss.epsilon == price_together([spent], 1e-3).epsilon > plan.epsilon(1e-3)
    also = Vocabulary(0.5, 1e-4).event()
    joint = model.set_params(also=(also,)).promise(plan, model.history_).loss.epsilon
    assert joint == price_together([also, spent], 1e-3).epsilon


def test_a_release_shows_plain_parameters(vectors, tmp_path):
    import json

    models = [
        Tagger(vectors=vectors, encoder=str(tmp_path / "secret-home" / "bert"), seed=3),
        Classifier(classes=("x", "y")),
        LanguageModel(["anna", "bern"], also=(Vocabulary().event(),)),
        Trainer(torch.nn.Linear(1, 1), None, [{"input_ids": [7]}], seed=4),
        Vocabulary(unit="user", method="policy"),
    ]
    shown = [json.loads(json.dumps(model.public_params())) for model in models]
    assert not any("seed" in one or "train_dataset" in one for one in shown)
    assert shown[0]["encoder"] == "bert" and "secret-home" not in str(shown[0])
    assert shown[0]["vectors"].startswith("arrays (") and shown[1]["classes"] == ["x", "y"]
    assert shown[2]["words"] == "2 words" and shown[2]["also"] == ["training.vocab"]
    assert shown[3]["model"] == "Linear" and shown[4]["distinct"] == 512


def test_the_room_shows_its_names():
    import textveil as tv

    assert "Vocabulary" in dir(tv.training) and "importlib" not in dir(tv.training)
    assert all(getattr(tv.training, name) is not None for name in dir(tv.training))
    assert tv.training.Vocabulary is Vocabulary


SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def test_a_call_in_the_shape_of_trainer(tmp_path):
    from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    model = BertForSequenceClassification(BertConfig(vocab_size=50, num_labels=2, **SIZES))
    rows = [{"input_ids": [1, 5 + i % 2 * 20, 6, 2], "attention_mask": [1] * 4, "labels": i % 2} for i in range(60)]
    args = SimpleNamespace(
        num_train_epochs=20, learning_rate=0.01, per_device_train_batch_size=10, output_dir=str(tmp_path)
    )
    trainer = Trainer(model=model, args=args, train_dataset=rows, epsilon=9.0, delta=1e-3, seed=0)
    assert (trainer.epochs, trainer.batch, trainer.rate) == (20, 10, 0.01) and "input_ids" not in repr(trainer)
    trainer.train(plan=TrainingPlan(noise=0.05, batch=60, examples=60, steps=40))
    assert trainer.guarantee_.label == "seeded"
    right = [
        int(logits.argmax()) == row["labels"] for logits, row in zip(trainer.predict_logits(rows), rows, strict=True)
    ]
    assert np.mean(right) > 0.9
    trainer.save_model()
    assert AutoModelForSequenceClassification.from_pretrained(tmp_path).num_labels == 2
    with pytest.raises(BadInput, match="the price of both runs together"):
        trainer.train()


def causal_rows(count):
    rows = [[1, 5 + i % 7, 6, 2, 3 + i % 5][: 3 + i % 3] for i in range(count)]
    return [
        {"input_ids": row + [0] * (5 - len(row)), "attention_mask": [1] * len(row) + [0] * (5 - len(row))}
        | {"labels": row + [-100] * (5 - len(row))}
        for row in rows
    ]


def tiny_causal(name):
    import transformers

    torch.manual_seed(0)
    if name == "gpt2":
        config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2, n_positions=20)
        return transformers.GPT2LMHeadModel(config)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=50, **SIZES))


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_causal_model_learns_the_next_piece_and_not_its_own(name):
    from transformers import default_data_collator

    from textveil.training.hf_net import PerExample

    rows = causal_rows(6)
    net = PerExample(tiny_causal(name), default_data_collator).eval()
    theirs = [net.model(**default_data_collator([row])).loss.item() for row in rows]
    assert np.allclose(net.losses(net.collate(rows)).detach(), theirs, rtol=1e-5)
    trainer = Trainer(model=net.model, train_dataset=rows, epsilon=9.0, delta=1e-3)
    trainer.train(plan=TrainingPlan(noise=4.0, batch=6, examples=6, steps=1))
    assert trainer.guarantee_.label == "guarantee"


def test_a_masked_word_model_has_its_head_counted_once():
    from transformers import BertConfig, BertForMaskedLM, default_data_collator

    from textveil.training import verify
    from textveil.training.hf_net import PerExample

    torch.manual_seed(0)
    net = PerExample(BertForMaskedLM(BertConfig(vocab_size=50, **SIZES)), default_data_collator)
    assert not net.causal and net.model.cls.predictions.bias.requires_grad
    verify(net, causal_rows(4))


def test_half_precision_models_and_seeded_collators_are_refused():
    from transformers import BertConfig, BertForSequenceClassification

    model = BertForSequenceClassification(BertConfig(vocab_size=50, num_labels=2, **SIZES))
    rows = [{"input_ids": [1, 2], "labels": 0}] * 10
    with pytest.raises(BadInput, match="a collator with a seed"):
        Trainer(model, None, rows, SimpleNamespace(seed=1), epsilon=3.0, delta=1e-3).train()
    with pytest.raises(BadInput, match=r"dtype=torch\.float32"):
        Trainer(model.half(), None, rows, epsilon=3.0, delta=1e-3).train()
