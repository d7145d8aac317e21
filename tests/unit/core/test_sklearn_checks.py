"""scikit-learn's own checks of estimators, and which of them are left out, with the reason of each.

Its checks feed tables of real numbers. Counts are whole, so the tables are rounded before they reach an estimator of counts.
Estimators of texts cannot take tables at all: scikit-learn would run nothing on them and call that a success, so what can
be asked without data is asked by name here, and what needs data is asked again on texts (test_estimators.py).
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import textveil as tv

pytest.importorskip("sklearn")
from sklearn.utils import estimator_checks

BLIND_FIT = "fit looks at no count; transform checks them all before it draws anything"
DRAWS = "each row gets noise of its own, so the order and number of rows matter, with a seed too"
COUNTS_LEFT_OUT = {
    "check_array_api_input": "only runs with SCIPY_ARRAY_API set, for estimators of array API arrays",
    "check_complex_data": BLIND_FIT,
    "check_dtype_object": "a table of objects is refused, whatever is in it",
    "check_estimators_empty_data_messages": "the number of documents is public: a table of none is released as one of none",
    "check_estimators_nan_inf": BLIND_FIT,
    "check_fit_non_negative": BLIND_FIT,
    "check_positive_only_tag_during_fit": BLIND_FIT,
}
NOISY_LEFT_OUT = COUNTS_LEFT_OUT | {
    "check_methods_sample_order_invariance": DRAWS,
    "check_methods_subset_invariance": DRAWS,
}
COUNTS = [
    # next to no noise, so that the checks see what happens to the counts; a seed, since some compare two draws
    (tv.counts.LimitedPrecision(epsilon=1e6, precision=1, seed=1), COUNTS_LEFT_OUT),
    (tv.counts.LimitedPrecision(epsilon=1e6, precision=1, seed=1, compress=1), NOISY_LEFT_OUT),
    (tv.counts.FullLocal(seed=1), NOISY_LEFT_OUT),
    (tv.counts.Sketch(width=5, seed=1), NOISY_LEFT_OUT),
]

TABLE = "feeds a table of numbers, where texts are needed"
ON_TEXTS = f"{TABLE}; tests/unit/core/test_estimators.py asks the same on texts"
TEXT_CHECKS = (
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
)
TEXT_LEFT_OUT = {
    "check_array_api_input": TABLE,
    "check_classifier_data_not_an_array": TABLE,
    "check_classifiers_classes": ON_TEXTS,
    "check_classifiers_one_label": "one class leaves nothing to learn, and is refused",
    "check_classifiers_one_label_sample_weights": "there are no weights of examples: each counts alike",
    "check_classifiers_regression_target": ON_TEXTS,
    "check_classifiers_train": ON_TEXTS,
    "check_complex_data": TABLE,
    "check_decision_proba_consistency": "there is no decision_function",
    "check_dict_unchanged": ON_TEXTS,
    "check_dont_overwrite_parameters": ON_TEXTS,
    "check_dtype_object": TABLE,
    "check_estimator_sparse_array": TABLE,
    "check_estimator_sparse_matrix": TABLE,
    "check_estimator_sparse_tag": TABLE,
    "check_estimators_dtypes": TABLE,
    "check_estimators_empty_data_messages": ON_TEXTS,
    "check_estimators_fit_returns_self": ON_TEXTS,
    "check_estimators_nan_inf": TABLE,
    "check_estimators_overwrite_params": ON_TEXTS,
    "check_estimators_pickle": ON_TEXTS,
    "check_estimators_unfitted": ON_TEXTS,
    "check_estimators_partial_fit_n_features": "there is no partial_fit: every look at the data is charged",
    "check_f_contiguous_array_estimator": TABLE,
    "check_fit1d": "texts are one-dimensional",
    "check_fit2d_1feature": TABLE,
    "check_fit2d_1sample": TABLE,
    "check_fit2d_predict1d": TABLE,
    "check_fit_check_is_fitted": ON_TEXTS,
    "check_fit_idempotent": ON_TEXTS,
    "check_fit_score_takes_y": ON_TEXTS,
    "check_methods_sample_order_invariance": DRAWS,
    "check_methods_subset_invariance": DRAWS,
    "check_n_features_in": "texts have no columns",
    "check_n_features_in_after_fitting": "texts have no columns",
    "check_non_transformer_estimators_n_iter": "the number of steps stands in plan_ and history_",
    "check_pipeline_consistency": ON_TEXTS,
    "check_positive_only_tag_during_fit": TABLE,
    "check_readonly_memmap_input": TABLE,
    "check_requires_y_none": ON_TEXTS,
    "check_supervised_y_2d": TABLE,
    "check_supervised_y_no_nan": TABLE,
    "check_transformer_data_not_an_array": TABLE,
    "check_transformer_general": ON_TEXTS,
    "check_transformer_n_iter": "nothing is iterated",
    "check_transformer_preserve_dtypes": TABLE,
    "check_transformers_unfitted_stateless": ON_TEXTS,
}
EXCEPT = {
    (kind, "check_parameters_default_constructible"): "its plans are frozen values, which scikit-learn does not know"
    for kind in (tv.hashed.Extractor, tv.hashed.SoundTrainer)
}
TEXTS = [
    *(getattr(tv.words, name)() for name in ("BRR", "Exponential", "Laplace", "Mahalanobis", "TEM", "Vickrey")),
    tv.hashed.Extractor(),
    tv.hashed.SoundTrainer(),
    tv.training.Vocabulary(),
    tv.training.Tagger(),
    tv.training.Classifier(),
    tv.training.LanguageModel(),
]


def named(check) -> str:
    return getattr(check, "func", check).__name__


def all_checks(estimator) -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not inherit from BaseEstimator, which needs scikit-learn
        return [check for _, check in estimator_checks.estimator_checks_generator(estimator)]


CASES = [
    pytest.param(estimator, place, id=f"{estimator!r}-{named(check)}-{place}")
    for estimator, left_out in COUNTS
    for place, check in enumerate(all_checks(estimator))
    if named(check) not in left_out
]


@pytest.fixture
def whole_counts(monkeypatch):
    """Round the tables that scikit-learn's checks feed to an estimator of counts."""
    theirs = estimator_checks._enforce_estimator_tags_X

    def rounded(estimator, X, **more):
        X = theirs(estimator, X, **more)
        return np.rint(np.abs(X)).astype(X.dtype) if isinstance(X, np.ndarray) else abs(X).rint()

    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", rounded)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator, place", CASES)
def test_counts(estimator, place, whole_counts):
    all_checks(estimator)[place](estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TEXT_CHECKS)
@pytest.mark.parametrize("estimator", TEXTS, ids=lambda e: type(e).__name__)
def test_texts(estimator, name):
    if (type(estimator), name) in EXCEPT:
        with pytest.raises(AssertionError):
            getattr(estimator_checks, name)(type(estimator).__name__, estimator)
        return
    getattr(estimator_checks, name)(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator, left_out", COUNTS, ids=repr)
def test_what_is_left_out_would_have_been_asked(estimator, left_out):
    assert set(left_out) <= {named(check) for check in all_checks(estimator)}


def test_every_check_of_a_transformer_and_a_classifier_is_run_or_left_out_with_a_reason(monkeypatch):
    asked = {"check_estimator_cloneable"}
    for estimator in (tv.words.BRR(), tv.training.Classifier()):
        tags = estimator.__sklearn_tags__()
        tags.input_tags.two_d_array = True
        monkeypatch.setattr(type(estimator), "__sklearn_tags__", lambda self, tags=tags: tags)
        asked |= {named(check) for check in all_checks(estimator)}
    assert asked == set(TEXT_CHECKS) | set(TEXT_LEFT_OUT)
    assert not set(TEXT_CHECKS) & set(TEXT_LEFT_OUT)
