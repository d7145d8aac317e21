"""What scikit-learn's users expect of estimators of texts: copies, pickles, pipelines, scores, errors of their kind."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import textveil as tv
from textveil.core import BadInput

pytest.importorskip("sklearn")
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

MECHANISMS = ("BRR", "Exponential", "Laplace", "Mahalanobis", "TEM", "Vickrey")
TEXTS = ["A warm day, then a cold night.", "Cool mornings; hot noons."]
WORDS = ["cold", "cool", "warm", "hot", "a", "day", "night", "then"]
MARKED = (["The fee is due in May. Texas law governs this paper."] * 3, [[(23, 52)]] * 3)


@pytest.fixture(scope="module")
def vectors():
    from textveil.text.binarise import binarise

    made = tv.vectors.from_arrays(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 4)).astype(np.float32))
    return made.with_codes(binarise(made, bits=64))


@pytest.fixture(params=MECHANISMS)
def mechanism(request, vectors):
    return getattr(tv.words, request.param)(vectors=vectors, seed=3)


def test_fit_returns_itself_and_changes_no_parameter(mechanism):
    before = mechanism.get_params()
    assert mechanism.fit(TEXTS) is mechanism
    assert mechanism.get_params() == before
    assert all(mechanism.get_params()[name] is value for name, value in before.items())


def test_fit_transform_is_fit_and_transform(mechanism):
    assert clone(mechanism).fit_transform(TEXTS) == clone(mechanism).fit(TEXTS).transform(TEXTS)


def test_fit_needs_no_texts_and_transform_no_fit(mechanism):
    assert clone(mechanism).transform(TEXTS) == clone(mechanism).fit().transform(TEXTS)


def test_transform_changes_nothing_of_the_mechanism(mechanism):
    mechanism.fit().transform(TEXTS)
    before = {name: id(value) for name, value in vars(mechanism).items()}
    mechanism.transform(TEXTS)
    assert {name: id(value) for name, value in vars(mechanism).items()} == before


def test_fitted_twice_is_fitted_once(mechanism):
    assert mechanism.fit().transform(TEXTS) == mechanism.fit(TEXTS).transform(TEXTS)


@pytest.mark.parametrize("duplicate", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy])
def test_a_copy_gives_the_same_answers(mechanism, duplicate):
    twin = duplicate(mechanism.fit())
    assert twin.transform(TEXTS) == mechanism.transform(TEXTS)
    assert twin.event() == mechanism.event()
    assert twin.guarantee_ == mechanism.guarantee_
    assert duplicate(clone(mechanism)).get_params().keys() == mechanism.get_params().keys()


def test_two_pickles_of_a_secure_mechanism_draw_apart(vectors):
    mechanism = tv.words.BRR(epsilon=0.01, vectors=vectors).fit()
    first, second = (pickle.loads(pickle.dumps(mechanism)) for _ in range(2))
    assert first.transform(TEXTS * 20) != second.transform(TEXTS * 20)


def test_a_pickle_holds_no_text_that_was_veiled(mechanism):
    mechanism.fit_transform(["zweihunderttausend Geheimnisse"])
    assert b"zweihunderttausend" not in pickle.dumps(mechanism)


def test_pickled_counts_hold_what_was_released_and_not_what_was_counted():
    counts = np.full((3, 4), 123456789)
    mechanism = tv.counts.LimitedPrecision(epsilon=1e-3, compress=2)
    noisy = mechanism.fit_transform(counts)
    twin = pickle.loads(pickle.dumps(mechanism))
    assert (twin.released_.counts != noisy).sum() == 0
    held = [value for value in vars(twin).values() if isinstance(value, np.ndarray)]
    assert not any(np.array_equal(value, counts) for value in held)


def test_a_pickled_extractor_finds_the_same():
    model = tv.hashed.Extractor(label="LAW", plan=tv.hashed.FeaturePlan(bits=12)).fit(*MARKED)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.predict(MARKED[0]) == model.predict(MARKED[0])
    assert twin.score(*MARKED) == model.score(*MARKED) == 1.0


def test_the_score_of_an_extractor_is_the_f1_of_tokens():
    model = tv.hashed.Extractor(label="LAW", plan=tv.hashed.FeaturePlan(bits=12)).fit(*MARKED)
    text = MARKED[0][0]
    # it finds the five words and the full stop of the clause; "Texas law" alone is two of them
    found = len(tv.hashed.tokenize(text[23:52]).words)
    assert model.score([text], [[(23, 32)]]) == pytest.approx(2 * 2 / (2 + found))
    assert model.score([text], [[(23, 52, "FEE")]]) == 0.0
    assert model.score([text], [[]]) == 0.0
    with pytest.raises(BadInput, match="does not fit"):
        model.score([text], [[(0, 1000)]])


UNFITTED = {
    "extractor": lambda: tv.hashed.Extractor().predict(TEXTS),
    "extractor's score": lambda: tv.hashed.Extractor().score(*MARKED),
    "tagger": lambda: tv.training.Tagger().predict(TEXTS),
    "classifier": lambda: tv.training.Classifier().predict_proba(TEXTS),
    "language model": lambda: tv.training.LanguageModel().perplexities(TEXTS),
    "columns": lambda: tv.counts.LimitedPrecision().get_feature_names_out(),
}


@pytest.mark.parametrize("name", UNFITTED)
def test_unfitted_is_their_error_and_ours(name):
    with pytest.raises(NotFittedError) as error:
        UNFITTED[name]()
    assert isinstance(error.value, BadInput)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("estimator", [tv.hashed.Extractor(), tv.training.Tagger()])
def test_scikit_learn_knows_what_is_fitted(estimator):
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


def test_scikit_learn_sees_that_something_was_fitted(vectors):
    check_is_fitted(tv.words.BRR(vectors=vectors).fit())
    check_is_fitted(tv.counts.LimitedPrecision().fit(np.eye(3)))
    check_is_fitted(tv.hashed.Extractor(plan=tv.hashed.FeaturePlan(bits=10)).fit(*MARKED))


def test_a_classifier_is_one():
    assert is_classifier(tv.training.Classifier())
    assert not is_classifier(tv.training.Tagger())
    assert not is_classifier(tv.words.BRR())


# ---- drawing again and again --------------------------------------------------------------------------------------

GRID = """
import json, sys, warnings
import numpy as np
import textveil as tv
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

words = tv.vectors.from_arrays(["good", "fine", "bad", "poor"], np.eye(4, dtype=np.float32))
mechanism = {mechanism}
texts, labels = ["good fine", "bad poor"] * 4, [1, 0] * 4
pipeline = make_pipeline(*mechanism, MultinomialNB())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    pipeline.fit(texts, labels)
    after_fit = len(caught)
    for _ in range(3):
        pipeline.predict(texts)
print(json.dumps([after_fit, [w.category.__name__ for w in caught]]))
"""
PIPELINES = {
    "words": ("[tv.words.Laplace(vectors=words), CountVectorizer()]", [0, ["UnrecordedWarning"]]),
    "counts": ("[CountVectorizer(), tv.counts.LimitedPrecision()]", [0, ["UnrecordedWarning"]]),
    "drafts": ("[tv.words.Laplace(vectors=words, seed=1), CountVectorizer()]", [0, []]),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_process_that_draws_again_without_a_ledger_is_warned_once(name):
    mechanism, expected = PIPELINES[name]
    done = subprocess.run(
        [sys.executable, "-c", GRID.replace("{mechanism}", mechanism)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == expected


def test_the_warning_can_be_caught_by_its_name():
    assert issubclass(tv.UnrecordedWarning, UserWarning)


def test_what_was_released_once_is_searched_as_often_as_one_likes(vectors, tmp_path):
    """The way that the documents recommend: one charge, however many folds and settings follow."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    ledger = tv.Ledger(tmp_path / "notes.ledger")
    release = ledger.release(tv.words.BRR(epsilon=4.0, vectors=vectors), TEXTS * 6, tv.Shape())
    search = GridSearchCV(
        make_pipeline(TfidfVectorizer(), LogisticRegression()), {"logisticregression__C": [1, 10]}, cv=2
    )
    search.fit(release.value, ["cold", "hot"] * 6)
    assert len(ledger.total()) == 1
    assert search.predict(TEXTS).shape == (2,)
