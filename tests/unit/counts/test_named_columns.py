"""Columns by name: DataFrames in and out, in the order of fit."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.counts import FullLocal, LimitedPrecision, Sketch

pd = pytest.importorskip("pandas")
COUNTS = pd.DataFrame([[3, 0, 1], [0, 2, 0]], columns=["bank", "card", "loan"], index=["a", "b"])
NO_NOISE = {"epsilon": 1000.0, "precision": 1}


def test_a_data_frame_gives_its_names():
    mechanism = LimitedPrecision(**NO_NOISE).fit(COUNTS)
    assert mechanism.feature_names_in_.tolist() == ["bank", "card", "loan"]
    assert mechanism.get_feature_names_out().tolist() == ["bank", "card", "loan"]
    assert mechanism.transform(COUNTS).toarray().tolist() == COUNTS.to_numpy().tolist()


def test_names_are_the_words_that_groups_by_meaning_need():
    table = pd.DataFrame(np.eye(4, dtype=int), columns=["bank", "money", "rain", "snow"])
    mechanism = LimitedPrecision(**NO_NOISE, compress=2, method="cluster", prior="uniform", seed=1).fit(table)
    assert mechanism.groups_[0] == mechanism.groups_[1] != mechanism.groups_[2] == mechanism.groups_[3]


OTHERS = {
    "in another order": (COUNTS[["card", "bank", "loan"]], "not in the order of fit"),
    "with another name": (COUNTS.rename(columns={"card": "cash"}), "not those of fit"),
    "fewer": (COUNTS[["bank", "card"]], "X has 2 features, but LimitedPrecision is expecting 3"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_columns_that_are_not_those_of_fit_are_refused(name, tmp_path):
    import textveil as tv

    table, why = OTHERS[name]
    mechanism = LimitedPrecision().fit(COUNTS)
    with pytest.raises(BadInput, match=why):
        mechanism.transform(table)
    ledger = tv.Ledger(tmp_path / "l.ledger")
    with pytest.raises(BadInput, match=why):
        ledger.release(mechanism, table, tv.Shape())
    assert ledger.entries() == []


def test_names_that_are_not_those_of_fit_are_refused():
    mechanism = LimitedPrecision().fit(COUNTS)
    with pytest.raises(BadInput, match="should have length 3"):
        mechanism.get_feature_names_out(["bank"])
    with pytest.raises(BadInput, match="not equal to feature_names_in_"):
        mechanism.get_feature_names_out(["card", "bank", "loan"])


@pytest.mark.parametrize(
    "mechanism, names",
    [
        (LimitedPrecision(**NO_NOISE), ["bank", "card", "loan"]),
        (LimitedPrecision(**NO_NOISE, compress=2, decompress=False), ["group0", "group1"]),
        (LimitedPrecision(**NO_NOISE, columns=2), ["bank", "card"]),
        (FullLocal(), ["bank", "card", "loan"]),
        (Sketch(width=2), ["bank", "card", "loan"]),
    ],
    ids=repr,
)
def test_set_output_gives_data_frames_with_names_and_index(mechanism, names):
    noisy = mechanism.set_output(transform="pandas").fit_transform(COUNTS)
    assert isinstance(noisy, pd.DataFrame)
    assert noisy.columns.tolist() == names
    assert noisy.index.tolist() == ["a", "b"]
    assert not isinstance(mechanism.set_output(transform="default").transform(COUNTS), pd.DataFrame)


def test_what_scikit_learn_is_told_for_all_counts_here():
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(LimitedPrecision(**NO_NOISE).fit_transform(COUNTS), pd.DataFrame)


def test_a_container_that_is_none_is_refused():
    with pytest.raises(BadInput, match="unknown transform 'excel'"):
        LimitedPrecision().set_output(transform="excel")


def test_polars_is_used_or_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(BadInput, match="polars is not installed"):
        LimitedPrecision().set_output(transform="polars").fit_transform(COUNTS)


def test_without_names_columns_are_numbered():
    mechanism = LimitedPrecision(**NO_NOISE).fit(COUNTS).fit(COUNTS.to_numpy())
    assert not hasattr(mechanism, "feature_names_in_")
    assert mechanism.get_feature_names_out().tolist() == ["word0", "word1", "word2"]
