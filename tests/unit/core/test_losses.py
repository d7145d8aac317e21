"""Losses: sums, comparisons and JSON, for every kind."""

from __future__ import annotations

import math

import pytest

from textveil.core import (
    ZCDP,
    Adjacency,
    Approx,
    CannotAdd,
    Cryptographic,
    Guarantee,
    LimitedPrecision,
    Measured,
    Metric,
    NoPromise,
    Pure,
    Renyi,
    Unit,
    UnknownName,
    loss_from_json,
)

ALL = [
    Pure(1.0),
    Approx(1.0, 1e-6),
    Renyi(2.0, 0.5),
    ZCDP(0.1),
    Metric(0.5, "hamming", "ab"),
    Metric(0.5, "hamming", "ab", 256.0),
    LimitedPrecision(1.0, 10, 1e-9),
    Measured(0.6, 1e-5, "fitted laws"),
    Cryptographic("two parties, semi-honest"),
    NoPromise("drawn with a seed", "seeded"),
    Pure(math.inf),
]


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_json_round_trip(loss):
    assert loss_from_json(loss.to_json()) == loss


def test_unknown_kind_is_refused_not_guessed():
    with pytest.raises(UnknownName, match="kind of loss 'metrik'; there are: metric"):
        loss_from_json({"kind": "metrik"})


UNSUMMED = [(a, b) for a in ALL for b in ALL if not a.label == b.label == "guarantee"]


@pytest.mark.parametrize("a, b", UNSUMMED, ids=repr)
def test_kinds_without_a_theorem_never_add(a, b):
    with pytest.raises(CannotAdd):
        a.plus(b)


def test_sums():
    assert Pure(1.0).plus(Pure(0.5)) == Pure(1.5)
    assert Approx(1.0, 1e-6).plus(Pure(0.5)) == Approx(1.5, 1e-6)
    assert Renyi(2.0, 0.5).plus(Renyi(2.0, 0.25)) == Renyi(2.0, 0.75)
    assert ZCDP(0.1).plus(ZCDP(0.2)).rho == pytest.approx(0.3)
    assert Metric(0.5, "hamming", "ab").plus(Metric(0.5, "hamming", "ab", 9.0)) == Metric(1.0, "hamming", "ab", 9.0)


@pytest.mark.parametrize(
    "a, b",
    [
        (Metric(0.5, "hamming", "ab"), Metric(0.5, "hamming", "cd")),
        (Metric(0.5, "hamming", "ab"), Metric(0.5, "euclidean", "ab")),
        (Renyi(3.0, 0.5), Renyi(2.0, 0.5)),
        (Pure(1.0), ZCDP(1.0)),
        (Pure(1.0), Metric(1.0, "hamming")),
    ],
)
def test_other_kinds_metrics_and_orders_have_no_sum(a, b):
    with pytest.raises(CannotAdd):
        a.plus(b)
    with pytest.raises(CannotAdd):
        a.covers(b)


def test_limited_precision_is_a_metric_on_counts():
    """(eps, N) is eps/N per count: sums agree whatever N they are read at, and so does the table's delta."""
    a, b = LimitedPrecision(1.0, 10), LimitedPrecision(3.0, 5)
    total = a.plus(b)
    assert total.epsilon / total.n == pytest.approx(1.0 / 10 + 3.0 / 5)
    tv = 2.0**-40
    exact = (1 + math.exp(4.0)) * tv  # the delta of eps 4 at twice the distance of eps 2
    assert LimitedPrecision(2.0, 5, (1 + math.exp(2.0)) * tv).at(10).delta == pytest.approx(exact)


def test_units_and_adjacencies_never_mix():
    word = Guarantee(Pure(1.0), Unit.WORD, Adjacency.REPLACE)
    for other in (
        Guarantee(Pure(1.0), Unit.USER, Adjacency.REPLACE),
        Guarantee(Pure(1.0), Unit.WORD, Adjacency.ADD_REMOVE),
    ):
        with pytest.raises(CannotAdd, match="have no sum"):
            word + other
        with pytest.raises(CannotAdd, match="do not compare"):
            word <= other  # noqa: B015


def test_smaller_means_stronger():
    strong, weak = (Guarantee(Pure(e), Unit.USER, Adjacency.REPLACE) for e in (1.0, 2.0))
    assert strong <= weak and weak >= strong and not weak <= strong


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_every_promise_explains_itself(loss):
    adjacency = Adjacency.METRIC if isinstance(loss, (Metric, LimitedPrecision)) else Adjacency.REPLACE
    text = Guarantee(loss, Unit.DOCUMENT, adjacency, ("n is public",), "a theorem").explain()
    assert ("Protected: one whole document" in text) == (loss.label == "guarantee")
    assert ("Not protected:" in text) == (loss.label == "guarantee")


def test_even_guess_is_the_bound():
    """e / (1 + e) = 0.7311, rounded up."""
    assert "73.2 % of the time" in Guarantee(Pure(1.0), Unit.USER, Adjacency.REPLACE).explain()


@pytest.mark.parametrize("bad", [-1, math.nan, "1", None, True])
def test_bad_epsilon(bad):
    with pytest.raises(ValueError, match="epsilon must be"):
        Pure(bad)
