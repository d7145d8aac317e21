"""Three kinds of tables, five things to do with them: each does its work or says in one sentence what is possible."""

from __future__ import annotations

import json

import pytest

from textveil.core import BadInput
from textveil.hashed import Extractor, FeaturePlan, SoundPlan, SoundTrainer, TableKind, load
from textveil.hashed.corpus import Corpus
from textveil.hashed.passive_aggressive import PassiveAggressive
from textveil.hashed.probe import probe
from textveil.hashed.seal import SealPlan, prepare, seal
from textveil.hashed.update import first_costs, train_on, update
from textveil.noise import secure
from textveil.recipes.hashed.seal import cost_of_model

TEXT = (
    "The fee is due in {month}. Nothing else is said.\n\n{state} law governs this paper alone. The parties agree to it."
)
PLAN = FeaturePlan(bits=10)
MONTHS, STATES = ("May", "June", "July", "August"), ("Texas", "Ohio", "Utah")
TEXTS = [TEXT.format(month=m, state=s) for m in MONTHS for s in STATES]
SPANS = [[(t.index("\n\n") + 2, t.index(" The parties"))] for t in TEXTS]


@pytest.fixture(scope="module")
def models():
    opened = Extractor(label="LAW", plan=PLAN).fit(TEXTS, SPANS)
    sealed = opened.seal(min_documents=2)
    sealed.table_.facts["costs"] = first_costs(prepare(opened.table_, SealPlan(min_documents=2)).fitted_rows)
    sound = SoundTrainer(4.0, 1e-6, "LAW", PLAN, SoundPlan(steps=3)).apply((TEXTS, SPANS), noise=secure())
    return {TableKind.OPEN: opened, TableKind.SEALED: sealed, TableKind.SOUND: sound}


@pytest.mark.parametrize("kind", list(TableKind))
def test_every_kind_knows_itself_after_a_round_trip(models, tmp_path, kind):
    models[kind].save(tmp_path / "m")
    assert load(tmp_path / "m").table_.kind is kind is models[kind].table_.kind


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (TableKind.OPEN, None),
        (TableKind.SEALED, "sealed already.*share it as it is, or train it on with `textveil hashed update`"),
        (TableKind.SOUND, "under a guarantee, so there is nothing to seal.*share it as it is"),
    ],
)
def test_seal(models, kind, says):
    if says is None:
        assert seal(models[kind].table_, min_documents=2).kind is TableKind.SEALED
        return
    with pytest.raises(BadInput, match=says):
        models[kind].seal()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (TableKind.OPEN, "not a sealed model.*`textveil hashed seal` first"),
        (TableKind.SEALED, None),
        (TableKind.SOUND, "covers that one training.*`textveil hashed train --epsilon` on all documents"),
    ],
)
def test_update(models, kind, says):
    corpus = Corpus(PLAN)
    for text, spans in zip(TEXTS, SPANS, strict=True):
        corpus.add(text.replace("paper", "contract"), [(start, end, 1) for start, end in spans])
    before = models[kind].table_
    after = train_on(before, corpus, PassiveAggressive(2, 0.01))
    if says is None:
        assert update(before, after).kind is TableKind.SEALED
        return
    with pytest.raises(BadInput, match=says):
        update(before, after)


@pytest.mark.parametrize("kind", list(TableKind))
def test_cost(models, tmp_path, kind):
    models[kind].save(tmp_path / "m")
    if kind is TableKind.SOUND:
        with pytest.raises(BadInput, match="costs what its card promises"):
            cost_of_model(tmp_path / "m", SealPlan(min_documents=2), bar=no_bar)
        return
    result = cost_of_model(tmp_path / "m", SealPlan(min_documents=2), bar=no_bar)
    assert result["sealed"] == (kind is TableKind.SEALED)


@pytest.mark.parametrize("kind", list(TableKind))
def test_apply_and_probe_work_on_every_kind(models, kind):
    model = models[kind]
    assert len(model.predict(TEXTS[:2])) == 2
    (answer,) = probe(model, ["Texas"], "The laws of the State of {term}.")
    assert answer.term == "Texas"


@pytest.mark.parametrize("kind", list(TableKind))
def test_what_passes_is_named_and_holds_no_text(models, kind):
    names = models[kind].passes()
    assert "the name of the label: LAW" in names and (len(names) == 1) == (kind is TableKind.SOUND)
    assert "Texas" not in json.dumps(names)


def test_mechanisms_name_what_will_pass_before_they_have_seen_data(models):
    assert Extractor(label="LAW", plan=PLAN).passes() == models[TableKind.OPEN].passes()
    assert SoundTrainer(label="LAW").passes() == models[TableKind.SOUND].passes()


def no_bar(title, total, unit):
    from contextlib import nullcontext

    return nullcontext(lambda n: None)
