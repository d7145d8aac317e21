"""The seal: the paper's Tables 2 and 3, decisions that stay, rare rows that go, nothing private left."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from textveil.core.errors import BadInput, BadParameter, UnknownName
from textveil.hashed.decode import decode
from textveil.hashed.features import Slots
from textveil.hashed.kinds import TableKind
from textveil.hashed.seal import SealPlan, centred, grid_step, prepare, seal
from textveil.hashed.table import WeightTable

R = 1 << 12


def paper_table() -> WeightTable:
    """Table 2 (slots 3975, 3977, 3980), and more complete rows so that a law can be fitted."""
    weights, present = np.zeros((R, 2), np.float32), np.zeros((R, 2), bool)
    rng = np.random.default_rng(0)
    some = rng.permutation(3900)[:300]
    weights[some] = rng.multivariate_normal([0.1, 0.4], [[0.3, -0.2], [-0.2, 0.2]], 300)
    present[some] = True
    for slot, row in ((3975, (0.55, 0.14)), (3977, (None, 0.72)), (3980, (-0.91, 0.28))):
        for label, weight in enumerate(row):
            if weight is not None:
                weights[slot, label], present[slot, label] = weight, True
    return WeightTable(weights, present, ("O", "LAW"), np.eye(2))


def trained(seed: int = 1) -> WeightTable:
    """A table like a trained one: many zeros, few large rows, document counts."""
    rng = np.random.default_rng(seed)
    documents = np.where(rng.random(R) < 0.6, rng.geometric(0.2, R), 0).astype(np.uint16)
    present = (documents > 0)[:, None] & (rng.random((R, 2)) < [0.9, 0.4])
    weights = (rng.standard_t(3, (R, 2)) * present * (rng.random((R, 1)) < 0.3)).astype(np.float32)
    return WeightTable(weights, present, ("O", "LAW"), rng.normal(size=(2, 2)), documents)


@pytest.mark.parametrize("law", ["gaussian", "kernel"])
def test_tables_2_and_3_rows_change_only_where_a_weight_was_missing(law):
    table = paper_table()
    sealed = seal(table, mode="paper", law=law)
    assert sealed.weights.shape == (R, 2) and sealed.present.all() and sealed.kind is TableKind.SEALED
    assert (sealed.weights[table.present] == table.weights[table.present]).all()  # bit by bit
    assert (sealed.weights[~table.present] != 0).mean() > 0.999
    assert sealed.weights[3975].tolist() == pytest.approx([0.55, 0.14])
    assert sealed.weights[3977, 1] == np.float32(0.72) and sealed.weights[3977, 0] != 0
    assert (sealed.weights[[3976, 3978, 3979]] != 0).all()
    assert table.is_open and (table.weights[~table.present] == 0).all()  # the original is not touched


def test_paper_mode_keeps_the_correlation_of_complete_rows():
    table = paper_table()
    whole = table.weights[table.present.all(axis=1)].astype(float)
    drawn = seal(table, mode="paper", seed=3).weights[~table.present.any(axis=1)].astype(float)
    wanted, found = np.corrcoef(whole.T)[0, 1], np.corrcoef(drawn.T)[0, 1]
    assert abs(np.arctanh(found) - np.arctanh(wanted)) < 6 / np.sqrt(len(drawn) - 3)


def test_the_gauge_changes_no_decision():
    table = trained()
    rng = np.random.default_rng(2)
    slots = Slots(rng.integers(0, R, 4000).astype(np.uint32), np.arange(0, 4001, 8))
    moved = dataclasses.replace(table, weights=centred(table.weights))
    bounds = np.array([0, 100, 250, 500])
    assert (decode(slots, bounds, table).labels == decode(slots, bounds, moved).labels).all()
    assert decode(slots, bounds, moved).margins == pytest.approx(decode(slots, bounds, table).margins, abs=1e-3)


def test_quiet_keeps_frequent_rows_and_forgets_rare_ones():
    table = trained()
    sealed = seal(table, min_documents=4, seed=5)
    ready = prepare(table, SealPlan(min_documents=4))
    step = grid_step(ready.fitted_rows)
    kept = table.documents >= 4
    assert np.abs(sealed.weights[kept] - centred(table.weights)[kept]).max() <= step / 2 * (1 + 1e-6)
    rare = (table.documents > 0) & ~kept & (table.weights != 0).any(axis=1)
    other = seal(table, min_documents=4, seed=6)
    assert (other.weights[kept] == sealed.weights[kept]).all() and (other.weights[rare] != sealed.weights[rare]).any()


def test_what_rare_rows_held_leaves_no_trace():
    """Two tables that differ in rows below k only: with the same seed their seals are equal, byte by byte."""
    table = trained()
    other = dataclasses.replace(table, weights=table.weights.copy(), present=table.present.copy())
    rare = np.flatnonzero((table.documents > 0) & (table.documents < 4))
    other.weights[rare] = np.random.default_rng(9).normal(size=(len(rare), 2))
    other.present[rare] = True
    unseen = np.flatnonzero(table.documents == 0)[: len(rare)]
    other.documents = table.documents.copy()
    other.documents[unseen] = 3  # and terms that the first one never saw
    one, two = (seal(t, min_documents=4, seed=11).weights for t in (table, other))
    assert one.tobytes() == two.tobytes()
    assert (
        seal(other, min_documents=3, seed=11).weights.tobytes()
        != seal(table, min_documents=3, seed=11).weights.tobytes()
    )


def test_digits_and_mirror_tell_nothing():
    sealed = seal(trained(), min_documents=4).weights
    step = grid_step(prepare(trained(), SealPlan(min_documents=4)).fitted_rows)
    assert (sealed / step == np.round(sealed / step)).all()
    assert (sealed[:, 0] == -sealed[:, 1]).all()
    assert not np.signbit(sealed[sealed == 0]).any()


def test_drawn_rows_have_the_law_of_kept_rows():
    """Two-sample Kolmogorov-Smirnov at a false-alarm rate of 1e-6."""
    table = trained()
    sealed = seal(table, min_documents=3, spread=1, lean=0, seed=21).weights[:, 1]
    kept = table.documents >= 3
    a, b = np.sort(sealed[kept]), np.sort(sealed[~kept])
    points = np.union1d(a, b)
    gap = np.abs(np.searchsorted(a, points, "right") / len(a) - np.searchsorted(b, points, "right") / len(b)).max()
    limit = np.sqrt(-np.log(1e-6 / 2) / 2 * (1 / len(a) + 1 / len(b)))
    assert gap < limit + 0.02  # .02: what the kernel's smoothing adds here


def test_drawn_rows_lean_to_the_first_label_all_alike():
    table = trained()
    upright, leaning = (seal(table, min_documents=3, spread=1, lean=lean, seed=3).weights for lean in (0.0, 2.0))
    kept, by = table.documents >= 3, 2 * centred(table.weights)[table.documents >= 3, 1].std()
    step = np.diff(np.unique(leaning[:, 1])).min()
    assert (leaning == upright)[kept].all()
    assert np.abs(upright[~kept, 1] - leaning[~kept, 1] - by).max() <= 1.01 * step
    assert np.abs(leaning[~kept, 0] + leaning[~kept, 1]).max() == 0


def test_three_labels():
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(256, 3)).astype(np.float32)
    table = WeightTable(
        weights, weights != 0, ("O", "A", "B"), np.zeros((3, 3)), rng.integers(0, 9, 256).astype(np.uint16)
    )
    for options in ({"min_documents": 3}, {"min_documents": 3, "law": "gaussian"}):
        sealed = seal(table, **options)
        assert np.abs(sealed.weights.sum(axis=1)).max() < 1e-6
        kept = table.documents >= 3
        assert np.abs(sealed.weights - centred(weights))[kept].max() < 0.01


def test_the_sealed_folder_holds_nothing_private(tmp_path):
    seal(trained()).save(tmp_path / "model")
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["table.json", "weights.bin"]
    again = WeightTable.open(tmp_path / "model")
    assert again.kind is TableKind.SEALED and again.documents is None and again.facts["seal"]["mode"] == "quiet"


def test_secure_by_default_and_repeatable_by_seed():
    table = trained()
    assert (seal(table).weights != seal(table).weights).any()
    assert (seal(table, seed=1).weights == seal(table, seed=1).weights).all()


def test_bad_input():
    table = trained()
    with pytest.raises(BadInput, match="sealed already"):
        seal(seal(table))
    with pytest.raises(BadInput, match="in how many documents"):
        seal(dataclasses.replace(table, documents=None))
    with pytest.raises(UnknownName, match="mode"):
        SealPlan(mode="loud")
    with pytest.raises(BadParameter, match="min_documents"):
        SealPlan(min_documents=0)
    with pytest.raises(BadInput, match="only 0 rows"):
        seal(table, min_documents=60000)
