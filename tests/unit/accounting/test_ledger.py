"""The ledger: what it writes, what it refuses, how it adds, what its chain notices."""

from __future__ import annotations

import json
import pickle
import sqlite3
import stat
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from textveil.accounting import prices
from textveil.accounting.deltas import check_delta
from textveil.accounting.ledger import Ledger
from textveil.core import (
    Adjacency,
    BadInput,
    BadParameter,
    BudgetExceeded,
    CountNoise,
    Cryptographic,
    Event,
    FixedSampled,
    GaussianNoise,
    LimitedPrecision,
    Measured,
    MetricNoise,
    NoPromise,
    OtherData,
    PoissonSampled,
    Refused,
    RepeatedNoise,
    Shape,
    Stated,
    TextveilError,
    Together,
    Unit,
    UnknownName,
    Unpriced,
)
from textveil.core.fingerprint import Fingerprint, fingerprint_of
from textveil.noise.source import source_for


def total_of(ledger: Ledger, unit: str, delta: float | None = None):
    """The one total of a unit."""
    (total,) = [total for total in ledger.total(delta) if total.unit == unit]
    return total


def word(epsilon: float, metric: str = "hamming", metric_id: str = "ab12", times: int = 1) -> Event:
    noise = MetricNoise(epsilon, metric, metric_id, 256.0)
    return Event(noise, Unit.WORD, Adjacency.METRIC, times=times, mechanism="words.brr")


def stated(epsilon: float, delta: float = 0.0, adjacency: Adjacency = Adjacency.ADD_REMOVE) -> Event:
    return Event(Stated(epsilon, delta), Unit.USER, adjacency)


def gaussian(multiplier: float, times: int = 1) -> Event:
    return Event(GaussianNoise(multiplier), Unit.USER, Adjacency.ADD_REMOVE, times=times)


def counts(epsilon: float, n: int, delta: float = 0.0) -> Event:
    return Event(CountNoise(epsilon, n, delta), Unit.DOCUMENT, Adjacency.METRIC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.ledger"


class Upper:
    """A mechanism that looks into the ledger file, from outside, at the moment it is applied."""

    name = "test.upper"

    def __init__(self, path: Path, seed: int | None = None, fails: bool = False):
        self.path, self.seed, self.fails = path, seed, fails
        self.on_disk: list[str] = []
        self.noise: object = None

    def get_params(self) -> dict[str, object]:
        return {"epsilon": 0.5, "seed": self.seed, "table": np.zeros(2), "bits": 256}

    def event(self, shape: Shape) -> Event:
        return word(0.5)

    def apply(self, data: list[str], *, noise: object) -> list[str]:
        self.on_disk, self.noise = [line[0] for line in raw(self.path, "SELECT hash FROM lines ORDER BY number")], noise
        if self.fails:
            raise RuntimeError("stopped")
        return [text.upper() for text in data]


def raw(path: Path, sql: str, *values: object) -> list[tuple]:
    db = sqlite3.connect(path)
    try:
        with db:
            return db.execute(sql, values).fetchall()
    finally:
        db.close()


# --- charging ---------------------------------------------------------------------------------------------------------


def test_without_budgets_it_only_keeps_track(path):
    ledger = Ledger(path)
    entries = [ledger.charge(word(0.5), note="first"), ledger.charge(word(1e6), note="second")]
    assert [e.note for e in Ledger(path).entries()] == ["first", "second"]
    assert entries[1].previous == entries[0].hash and entries[1].id == entries[1].hash[:16]
    assert [e.mechanism for e in entries] == ["words.brr"] * 2
    assert ledger.total()[0].loss.epsilon == 1e6 + 0.5


def test_only_the_owner_can_read_the_file_and_nothing_else_is_left(path):
    Ledger(path).charge(word(0.5))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["notes.ledger"]


def test_a_refused_charge_says_what_is_left_and_writes_nothing(path):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=0.8)
    ledger.charge(word(0.5))
    before = ledger.head
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge(word(8))
    assert str(refused.value) == (
        "ledger 'notes' has epsilon 0.3 left (unit: word, metric: hamming); this release asks 8. "
        "Lower --epsilon or open a new budget."
    )
    assert refused.value.exit_code == 1 and ledger.head == before
    ledger.charge(word(0.3))
    with pytest.raises(BudgetExceeded):
        ledger.charge(word(1e-6))


def test_decimal_parts_of_a_budget_fill_it(path):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=0.3)
    ledger.charge(word(0.1))
    ledger.charge(word(0.2))  # 0.1 + 0.2 > 0.3 in floating point
    assert len(ledger.entries()) == 2


@pytest.mark.parametrize("event", [word(0.1, "euclidean"), stated(0.1), counts(0.1, 10)])
def test_what_has_no_budget_is_refused(path, event):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=100)
    with pytest.raises(BudgetExceeded, match="no budget for this release"):
        ledger.charge(event)
    assert ledger.entries() == []


def test_a_later_budget_replaces_the_earlier_one_and_both_stay_visible(path):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=0.1)
    with pytest.raises(BudgetExceeded):
        ledger.charge(word(0.5))
    ledger.allow(unit="word", metric="hamming", epsilon=1)
    ledger.charge(word(0.5))
    assert [b.epsilon for b in ledger.budgets()] == [1.0]
    assert [json.loads(x)["body"]["epsilon"] for x in ledger.export() if '"kind": "budget"' in x] == [0.1, 1.0]


def test_a_budget_for_a_metric_name_bounds_all_its_codes_together(path):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=0.8)
    ledger.charge(word(0.5, metric_id="one"))
    with pytest.raises(BudgetExceeded):
        ledger.charge(word(0.5, metric_id="two"))


def test_a_budget_without_adjacency_bounds_the_sum_over_adjacencies(path):
    ledger = Ledger.new(path, unit="user", epsilon=2)
    ledger.charge(stated(1.5))
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.5 left \(unit: user\); this release asks 1"):
        ledger.charge(stated(1, adjacency=Adjacency.REPLACE))
    named = Ledger.new(path.with_name("b.ledger"), unit="user", epsilon=2, adjacency="add_remove")
    named.charge(stated(1.5))
    with pytest.raises(BudgetExceeded, match="no budget"):
        named.charge(stated(1, adjacency=Adjacency.REPLACE))


def test_delta_has_a_budget_too(path):
    ledger = Ledger.new(path, unit="user", epsilon=8, delta=1e-6)
    ledger.charge(stated(1, 6e-7))
    with pytest.raises(BudgetExceeded, match=r"delta 4e-07 left .*asks 6e-07"):
        ledger.charge(stated(1, 6e-7))


def test_gaussian_noise_needs_a_budget_with_delta(path):
    ledger = Ledger.new(path, unit="user", epsilon=100)
    with pytest.raises(BudgetExceeded, match="no finite epsilon"):
        ledger.charge(gaussian(5))


def test_gaussian_noise_is_composed_at_the_delta_of_its_budget(path):
    alone = prices.price(gaussian(1.0), delta=1e-6).epsilon
    ledger = Ledger.new(path, unit="user", epsilon=alone * 1.01, delta=1e-6)  # a tenth of delta is kept for other noise
    for _ in range(4):  # four draws with twice the noise are one draw
        ledger.charge(gaussian(2.0))
    assert total_of(ledger, "user").loss.epsilon == pytest.approx(alone, rel=1e-9)
    assert ledger.quote(gaussian(2.0)).delta == 1e-6
    with pytest.raises(BudgetExceeded, match="left at delta 1e-06"):
        ledger.charge(gaussian(2.0))


def test_stated_promises_take_their_part_of_delta_first(path):
    ledger = Ledger(path)
    ledger.charge(gaussian(2.0))
    ledger.charge(stated(0.5, 4e-7))
    expected = 0.5 + prices.price(gaussian(2.0), delta=1e-6 - 4e-7).epsilon
    assert total_of(ledger, "user", 1e-6).loss.epsilon == pytest.approx(expected, rel=1e-9)
    assert total_of(ledger, "user", 3e-7).loss.epsilon == float("inf")


def test_metrics_stand_side_by_side_with_their_joint_loss(path):
    ledger = Ledger(path)
    for event in (word(0.5), word(0.25), word(3, "euclidean", "cd34"), word(1, metric_id="zz")):
        ledger.charge(event)
    found = {(t.loss.metric, t.loss.metric_id): t.loss.epsilon for t in ledger.total()}
    assert found == {("euclidean", "cd34"): 3.0, ("hamming", "ab12"): 0.75, ("hamming", "zz"): 1.0}
    assert ledger.joint() == {"word": "3 * euclidean[cd34] + 0.75 * hamming[ab12] + 1 * hamming[zz]"}


def test_counts_of_different_precision_add(path):
    ledger = Ledger.new(path, unit="document", epsilon=3, precision=10)
    ledger.charge(counts(1, 10))
    ledger.charge(counts(1, 5))
    assert ledger.total()[0].loss == LimitedPrecision(3.0, 10)
    with pytest.raises(BudgetExceeded):
        ledger.charge(counts(0.01, 10))
    with pytest.raises(BudgetExceeded, match="delta"):
        Ledger.new(path.with_name("b.ledger"), unit="document", epsilon=3, precision=10).charge(counts(1, 10, 1e-9))


def test_units_and_adjacencies_are_never_mixed(path):
    ledger = Ledger(path)
    for event in (stated(1), stated(2, adjacency=Adjacency.REPLACE), word(0.5)):
        ledger.charge(event)
    own = [total for total in ledger.total() if total.from_larger < total.charges]
    assert len(own) == 3


@pytest.mark.parametrize("loss", [Measured(0.1, 0, "as printed"), NoPromise("masks are reused", "broken")])
def test_what_has_no_price_is_listed_and_never_summed(path, loss):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=0.8)
    event = Event(Unpriced(loss), Unit.WORD, Adjacency.METRIC)
    with pytest.raises(Refused, match="--unpriced"):
        ledger.charge(event)
    assert ledger.entries() == []
    ledger.charge(event, note="as is", unpriced=True)
    assert ledger.total() == [] and [e.note for e in ledger.unpriced()] == ["as is"]
    assert ledger.state()["unpriced"][0]["label"] == loss.label
    ledger.charge(word(0.8))


def test_an_event_that_could_not_be_read_back_is_not_charged(path):
    ledger = Ledger(path)
    with pytest.raises(BadInput, match="cannot be charged"):
        ledger.charge(stated(float("inf")))
    assert ledger.entries() == []


@pytest.mark.parametrize(
    "event",
    [
        Event(FixedSampled(100, 10, GaussianNoise(1.0)), Unit.USER, Adjacency.ADD_REMOVE),
        Event(Together((RepeatedNoise(MetricNoise(1.0, "hamming")),)), Unit.USER, Adjacency.REPLACE),
        Event(
            Together((RepeatedNoise(MetricNoise(1.0, "hamming")), RepeatedNoise(GaussianNoise(1.0)))),
            Unit.USER,
            Adjacency.REPLACE,
        ),
        Event(Together(()), Unit.USER, Adjacency.REPLACE),
    ],
)
def test_an_event_without_a_price_is_refused_even_where_nothing_is_bounded(path, event):
    ledger = Ledger(path)
    with pytest.raises(TextveilError):
        ledger.charge(event)
    assert ledger.entries() == [] and ledger.total() == []


def test_draws_that_no_accountant_covers_together_still_have_a_total(path):
    fixed = Event(FixedSampled(1000, 10, GaussianNoise(2.0)), Unit.USER, Adjacency.REPLACE)
    poisson = Event(PoissonSampled(0.01, GaussianNoise(2.0)), Unit.USER, Adjacency.REPLACE)
    ledger = Ledger(path)
    for event in (fixed, poisson, stated(0.25, 1e-7, Adjacency.REPLACE)):
        ledger.charge(event)
    half = (1e-6 - 1e-7) / 2
    expected = 0.25 + sum(prices.price(event, delta=half).epsilon for event in (fixed, poisson))
    assert ledger.total(delta=1e-6)[0].loss.epsilon == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("budget", "error"),
    [
        ({"unit": "wrod", "epsilon": 1}, UnknownName),
        ({"unit": "word", "epsilon": 0}, BadParameter),
        ({"unit": "word", "epsilon": float("nan")}, BadParameter),
        ({"unit": "word", "epsilon": float("inf")}, BadParameter),
        ({"unit": "word", "epsilon": 1, "delta": 1}, BadParameter),
        ({"unit": "word", "epsilon": 1, "delta": -1e-9}, BadParameter),
        ({"unit": "word", "epsilon": 1, "metric": "hamming", "delta": 1e-6}, BadParameter),
        ({"unit": "word", "epsilon": 1, "metric": "hamming", "adjacency": "replace"}, BadParameter),
        ({"unit": "word", "epsilon": 1, "metric": "hamming", "precision": 5}, BadParameter),
        ({"unit": "word", "epsilon": 1, "adjacency": "metric"}, BadParameter),
        ({"unit": "word", "epsilon": 1, "adjacency": "near"}, UnknownName),
        ({"unit": "document", "epsilon": 1, "precision": 0}, BadParameter),
        ({"unit": "word"}, BadInput),
        ({"epsilon": 1}, BadInput),
    ],
)
def test_a_bad_budget_is_named_and_leaves_no_file(path, budget, error):
    with pytest.raises(error):
        Ledger.new(path, **budget)
    assert list(path.parent.iterdir()) == []


# --- releasing --------------------------------------------------------------------------------------------------------


def test_the_charge_is_on_disk_before_the_noise_is_drawn(path):
    ledger, mechanism = Ledger(path), Upper(path)
    release = ledger.release(mechanism, ["one", "two"], Shape())
    assert release.value == ["ONE", "TWO"]
    assert mechanism.on_disk[-1][:16] == release.entry == ledger.entries()[0].id
    assert mechanism.noise.seeded is False
    assert release.guarantee.loss.epsilon == 0.5 and release.guarantee.label == "guarantee"
    assert release.stamp.mechanism == "test.upper" and not release.stamp.draft
    assert release.stamp.parameters == {"epsilon": 0.5, "bits": 256, "table": "ndarray"}


def test_a_failure_after_the_charge_keeps_the_charge(path):
    ledger = Ledger(path)
    with pytest.raises(RuntimeError):
        ledger.release(Upper(path, fails=True), ["one"], Shape())
    assert len(ledger.entries()) == 1


def test_a_refused_release_never_touches_the_data(path):
    ledger, mechanism = Ledger.new(path, unit="word", metric="hamming", epsilon=0.1), Upper(path)
    with pytest.raises(BudgetExceeded):
        ledger.release(mechanism, ["one"], Shape())
    assert mechanism.on_disk == []
    ledger.allow(unit="word", metric="hamming", epsilon=1)
    ledger.release(mechanism, ["other"], Shape())  # the refused one did not bind the ledger to its data


@pytest.mark.parametrize("noise", [None, source_for(3), np.random.default_rng(3)])
def test_a_seed_makes_a_draft_without_promise(path, noise):
    ledger = Ledger(path)
    release = ledger.release(Upper(path, seed=3 if noise is None else None), ["one"], noise=noise)
    assert release.stamp.draft and release.guarantee.label == "seeded"
    assert ledger.total() == [] and len(ledger.unpriced()) == 1
    assert "seed" not in release.stamp.parameters


# --- the data set -----------------------------------------------------------------------------------------------------


def test_other_data_is_refused_unless_told(path):
    ledger, mechanism = Ledger(path), Upper(path)
    ledger.release(mechanism, ["one"])
    ledger.release(mechanism, ["one"])
    with pytest.raises(OtherData):
        ledger.release(mechanism, ["other"])
    with pytest.raises(OtherData):
        ledger.release(mechanism, iter(["other"]))
    with pytest.raises(OtherData, match="cannot recognise"):
        ledger.release(mechanism, [object()])
    assert len(ledger.entries()) == 2
    ledger.release(mechanism, ["other"], other_data=True)
    ledger.release(mechanism, ["other"])
    ledger.release(mechanism, iter(["one"]), other_data=True)
    kinds = [json.loads(x)["kind"] for x in ledger.export()]
    assert kinds == ["opened", "data", "charge", "charge", "data", "charge", "charge", "charge", "head"]


def test_texts_read_piece_by_piece_have_the_fingerprint_of_the_list(path):
    ledger = Ledger(path)
    ledger.release(Upper(path), ["one", "two"])
    mark = ledger.fingerprint().update("one").update("two").hexdigest()
    ledger.charge(word(0.5), fingerprint=mark)
    ledger.bind(mark)
    with pytest.raises(OtherData):
        ledger.bind(ledger.fingerprint().update("onetwo").hexdigest())


def test_fingerprints_depend_on_the_key_and_on_every_part():
    key = bytes(range(32))
    same = [["a", "b"], ("a", "b"), np.array(["a", "b"]), np.array(["a", "b"], dtype=object)]
    assert len({fingerprint_of(d, key) for d in same}) == 1
    dense = np.array([[1.0, 0.0], [0.0, 2.0]])
    different = [
        ["a", "b"],
        ["b", "a"],
        ["ab"],
        ["a", "b", ""],
        dense,
        dense.T[:, :1],
        dense.astype("f4"),
        sparse.csr_matrix(dense),
        [1, 2],
        {"a": 1},
        "ab\n",
        ["\udc80"],
    ]
    assert len({fingerprint_of(d, key) for d in different}) == len(different)
    assert fingerprint_of(["a"], key) != fingerprint_of(["a"], bytes(32))
    assert fingerprint_of(sparse.coo_matrix(dense), key) == fingerprint_of(sparse.csc_matrix(dense), key)
    assert fingerprint_of(object(), key) is None
    assert Fingerprint(key).update("a").hexdigest() != Fingerprint(key).update_bytes(b"a").hexdigest()


def test_a_paragraph_and_a_training_example_are_two_units_and_have_no_sum(tmp_path):
    """An extractor's paragraph is cut out of what a language model takes as one example: they have no sum."""
    ledger = Ledger(tmp_path / "notes.ledger")
    for unit in (Unit.PARAGRAPH, Unit.EXAMPLE):
        ledger.charge(Event(GaussianNoise(2.0), unit, Adjacency.ADD_REMOVE))
    own = [total for total in ledger.total() if total.from_larger < total.charges]
    assert sorted(str(total.unit) for total in own) == ["example", "paragraph"]


def test_cryptographic_releases_and_published_evidence_need_no_flag(path):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=0.8)
    ledger.charge(Event(Unpriced(Cryptographic("two parties")), Unit.WORD, Adjacency.METRIC))
    noted = ledger.note_evidence("audit of out/", unit=Unit.DOCUMENT)
    assert (noted.mechanism, noted.event.unit, noted.priced) == ("audit", Unit.DOCUMENT, False)
    assert [line["label"] for line in ledger.state()["unpriced"]] == ["cryptographic", "heuristic"]


def test_an_entry_has_the_full_head_and_can_be_found(path):
    ledger = Ledger(path)
    first, second = ledger.charge(word(0.5)), ledger.charge(word(0.25))
    assert second.head == ledger.head and first.head != second.head
    assert ledger.find(first.id) == first and ledger.find("0" * 16) is None
    assert ledger.verify(first.head, entry=first.id) == ledger.head


def test_a_ledger_says_whether_it_was_made(path):
    assert Ledger(path).was_made and not Ledger(path).was_made
    assert Ledger.new(path.with_name("b.ledger")).was_made


def test_a_misspelt_metric_is_refused_and_leaves_no_file(path):
    with pytest.raises(UnknownName, match="unknown metric 'haming'; there are: hamming"):
        Ledger.new(path, unit="word", metric="haming", epsilon=1)
    assert not path.exists()
    ledger = Ledger(path)
    with pytest.raises(UnknownName):
        ledger.allow(unit="word", metric="own", epsilon=1)
    ledger.charge(word(0.5, metric="own"))  # of a plug-in; from now on the name is known here
    ledger.allow(unit="word", metric="own", epsilon=1)


def test_charges_of_other_processes_are_caught_up_with(path):
    """Two handles stand for two processes: each remembers what it has checked, and reads what the other wrote."""
    one = Ledger.new(path, unit="word", metric="hamming", epsilon=1)
    other = Ledger(path)
    for ledger in (one, other, one, other):
        ledger.charge(word(0.25))
    for ledger in (one, other):
        with pytest.raises(BudgetExceeded):
            ledger.charge(word(0.25))
    one.allow(unit="word", metric="hamming", epsilon=1.25)
    other.charge(word(0.25))


def test_what_was_rolled_back_is_not_remembered(path, monkeypatch):
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=1)
    ledger.charge(word(0.5))
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("textveil.accounting.ledger._append", broken_append)
        ledger.charge(word(0.5))
    ledger.charge(word(0.5))
    assert len(ledger.entries()) == 2


def broken_append(*_: object) -> None:
    raise RuntimeError("the disk is gone")


def test_a_ledger_can_be_pickled_after_a_charge(path):
    ledger = Ledger(path)
    ledger.charge(word(0.5))
    copy = pickle.loads(pickle.dumps(ledger))
    copy.charge(word(0.5))
    assert len(ledger.entries()) == 2


def test_a_delta_of_one_over_n_is_refused_unless_said():
    check_delta(1e-3, 999)
    check_delta(0.2, 59, allow=True)
    for delta, units in ((1 / 59, 59), (0.2, 59)):
        with pytest.raises(Refused, match="1/n for 59 units"):
            check_delta(delta, units)
