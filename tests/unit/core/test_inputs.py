"""What looks like texts and is none: refused with the fix, before anything is charged or drawn."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import textveil as tv
from textveil.core import BadInput, OtherData
from textveil.core.inputs import check_texts, texts_of

pd = pytest.importorskip("pandas")

TABLE = pd.DataFrame({"name": ["Zebulon"], "text": ["the bank called"]})
NO_TEXTS = {
    "one text": ("A bank called me.", r"\[text\]"),
    "bytes": (b"A bank called me.", r"\[text\]"),
    "a table": (TABLE, r"table\['text'\]"),
    "a table of numpy": (np.array([["a", "b"]]), "one column"),
    "a dict": ({"text": ["the bank called"]}, "entry"),
    "a number": (3, "a list of strings"),
    "an array without a length": (np.array("a bank"), "one column"),
    "nothing": (None, "a list of strings"),
    "a set": ({"a bank", "a letter"}, "a list of strings"),
    "numbers": (np.array([1.0, 2.0]), "text 0 is a float64, not a string"),
    "a text that is missing": (["a bank", None], "text 1 is a NoneType, not a string"),
    "a missing text of a series": (pd.Series(["a bank", None]), "text 1 is a NoneType|text 1 is a float"),
}
TEXTS = {
    "a list": ["the bank called"],
    "a tuple": ("the bank called",),
    "a series": pd.Series(["the bank called"], index=[7]),
    "a series of strings": pd.Series(["the bank called"], dtype="string"),
    "an array": np.array(["the bank called"]),
    "an array of objects": np.array(["the bank called"], dtype=object),
}


@pytest.mark.parametrize("name", NO_TEXTS)
def test_what_is_no_texts_is_refused_and_not_charged(name, tmp_path):
    data, possible = NO_TEXTS[name]
    mechanism, ledger = tv.words.BRR(epsilon=0.5), tv.Ledger(tmp_path / "l.ledger")
    for take in (check_texts, texts_of, mechanism.transform, lambda given: ledger.release(mechanism, given)):
        with pytest.raises(BadInput, match=possible) as refused:
            take(data)
        assert "bank" not in str(refused.value)
        assert "Zebulon" not in str(refused.value)
    assert ledger.entries() == []


@pytest.mark.parametrize("name", TEXTS)
def test_texts_in_any_sequence_are_taken(name, tmp_path):
    mechanism, ledger = tv.words.BRR(epsilon=0.5), tv.Ledger(tmp_path / "l.ledger")
    assert texts_of(TEXTS[name]) == ["the bank called"]
    assert len(mechanism.transform(TEXTS[name])) == 1
    assert len(ledger.release(mechanism, TEXTS[name]).value) == 1
    assert len(ledger.entries()) == 1


def test_a_series_keeps_its_index_and_its_name():
    given = pd.Series(["the bank called", "a letter"], index=["x", "y"], name="notes")
    veiled = tv.words.BRR(epsilon=0.5).transform(given)
    assert isinstance(veiled, pd.Series) and list(veiled.index) == ["x", "y"] and veiled.name == "notes"
    assert all(isinstance(text, str) for text in veiled)


def test_what_is_refused_is_not_counted_as_drawn(monkeypatch):
    monkeypatch.setattr("textveil.accounting.account._transforms", itertools.count(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(BadInput):
                tv.words.BRR(epsilon=0.5).transform("one text")


def test_an_iterator_is_read_once_and_checked_as_it_is_read():
    texts = iter(["one", "two"])
    check_texts(texts)
    assert texts_of(texts) == ["one", "two"]
    with pytest.raises(BadInput, match="text 1 is a int"):
        texts_of(iter(["one", 2]))


def test_a_ledger_tells_the_data_of_an_iterator(tmp_path):
    ledger, mechanism = tv.Ledger(tmp_path / "l.ledger"), tv.words.BRR(epsilon=0.5).fit()
    ledger.release(mechanism, iter(["one note"]))
    ledger.release(mechanism, ["one note"])
    with pytest.raises(OtherData):
        ledger.release(mechanism, (text for text in ["another note"]))
    with pytest.raises(BadInput, match="text 0 is a int"):
        ledger.release(mechanism, iter([3]))
    assert len(ledger.entries()) == 2


def test_a_prior_is_not_learnt_from_one_text(tmp_path):
    from textveil.words.priors import PrivatePrior

    ledger = tv.Ledger(tmp_path / "l.ledger")
    with pytest.raises(BadInput, match="not one text"):
        ledger.release(PrivatePrior(tv.words.BRR().fit().vectors_, 1.0, 5), "one text")
    assert ledger.entries() == []


@pytest.mark.parametrize("name", NO_TEXTS)
def test_an_extractor_finds_nothing_in_what_is_no_texts(name):
    from textveil.hashed.extractor import marked_example

    model = tv.hashed.Extractor(plan=tv.hashed.FeaturePlan(bits=10)).fit(*marked_example())
    data, possible = NO_TEXTS[name]
    for ask in (model.predict, model.token_scores):
        with pytest.raises(BadInput, match=possible):
            ask(data)
    if name not in ("numbers", "a text that is missing", "a missing text of a series"):
        for learn in (model.score, model.fit):
            with pytest.raises(BadInput, match="documents or spans"):
                learn(data, [[]])


@pytest.mark.parametrize("name", ["one text", "a table", "a dict"])
def test_a_tagger_reads_no_names_of_columns(name):
    from textveil.training.tagger import checked

    with pytest.raises(BadInput, match="a list of sentences is needed"):
        checked(NO_TEXTS[name][0])


@pytest.mark.torch
@pytest.mark.parametrize("name", ["one text", "a table", "a dict", "a number"])
def test_no_model_learns_from_what_is_no_texts(name, tmp_path):
    pytest.importorskip("torch")
    data, _ = NO_TEXTS[name]
    ledger = tv.Ledger(tmp_path / "l.ledger")
    examples = {tv.training.LanguageModel(epsilon=1.0): data, tv.training.Classifier(epsilon=1.0): (data, ["a", "b"])}
    for model, given in examples.items():
        with pytest.raises(BadInput):
            ledger.release(model, given)
    assert ledger.entries() == []
