"""Losses: sums, comparisons and JSON, for every kind."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from textveil.core.losses import downward, upward

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
    assert ("Protected: " in text) == (loss.label == "guarantee")
    assert ("Not protected:" in text) == (loss.label == "guarantee")


def test_even_guess_is_the_bound():
    """e / (1 + e) = 0.7311, rounded up; with delta 0.2 (e + 0.2) / (1 + e) = 0.7849."""
    assert "73.2 % of the time" in Guarantee(Pure(1.0), Unit.USER, Adjacency.REPLACE).explain()
    assert "78.5 % of the time" in Guarantee(Approx(1.0, 0.2), Unit.USER, Adjacency.REPLACE).explain()


@pytest.mark.parametrize("epsilon, delta", [(0.0, 0.0), (1.0, 0.0), (1.0, 0.2), (3.0, 1e-6), (0.5, 1.0)])
def test_even_guess_is_attained_by_the_worst_mechanism(epsilon, delta):
    """The pair that dominates every (epsilon, delta) mechanism (Kairouz, Oh, Viswanath 2015), enumerated."""
    odds = math.exp(epsilon)
    one = [delta, (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds), 0.0]
    right = sum(max(p, q) for p, q in zip(one, reversed(one), strict=True)) / 2
    assert Approx(epsilon, delta).even_guess() == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize("stay", [0.5, 0.6, 0.9, 0.999])
def test_even_guess_of_a_divergence_bounds_a_coin(stay):
    """Randomized response tells two worlds apart `stay` of the time; its KL and its divergence of order 2 are exact."""
    away = 1 - stay
    kl = (stay - away) * math.log(stay / away)
    second = math.log(stay**2 / away + away**2 / stay)
    rho = kl  # the smallest rho that a bound on every order could have, so the strictest case
    assert stay <= Renyi(2.0, second).even_guess() and stay <= ZCDP(rho).even_guess()


def test_limited_precision_speaks_of_counts_and_never_of_a_whole_document():
    promise = Guarantee(LimitedPrecision(1.0, 10), Unit.DOCUMENT, Adjacency.METRIC)
    text = promise.explain()
    assert "Protected: any 10 counts of one document." in text and "differ in at most 10 counts" in text
    assert "whole document" not in text and "differ in more than 10 counts" in text


def test_a_word_is_one_occurrence_and_repeats_are_said_not_to_be_protected():
    parts = Guarantee(Metric(0.3, "hamming", "ab", 8.0), Unit.WORD, Adjacency.METRIC).parts()
    assert parts.protected == "one occurrence of a word"
    assert any("stands several times" in line for line in parts.not_protected)


@pytest.mark.parametrize(
    "loss, bounding",
    [
        (Pure(2.9), True),  # e^2.9 / (1 + e^2.9) = .948
        (Pure(3.0), False),  # .953
        (Approx(2.9, 0.2), False),  # .958
        (Metric(0.5, "hamming", "ab", 5.0), True),
        (Metric(0.5, "hamming", "ab", 256.0), False),
        (Metric(0.001, "hamming", "ab"), False),  # no diameter: any two inputs may be told apart
        (LimitedPrecision(1.0, 10), True),
        (Pure(math.inf), False),
        (ZCDP(0.1), True),
        (Renyi(2.0, 9.0), False),
        (Measured(0.1, 1e-6, "fitted laws"), False),
        (NoPromise("drawn with a seed", "seeded"), False),
        (Cryptographic("two parties"), False),
    ],
    ids=repr,
)
def test_a_promise_bounds_something_up_to_95_percent(loss, bounding):
    adjacency = Adjacency.METRIC if isinstance(loss, (Metric, LimitedPrecision)) else Adjacency.REPLACE
    assert Guarantee(loss, Unit.WORD, adjacency).is_bounding is bounding


def test_a_theorem_about_near_words_only_says_so():
    far = Guarantee(Metric(0.5, "hamming", "ab", 256.0), Unit.WORD, Adjacency.METRIC)
    near = Guarantee(Metric(0.5, "hamming", "ab", 5.0), Unit.WORD, Adjacency.METRIC)
    assert "between two near words, at most 5.88 apart" in far.parts().how_sure
    assert "practically always" in far.parts().not_protected[0] and "practically always" not in far.parts().how_sure
    assert "near words" not in near.explain()


def test_parts_say_what_explain_says():
    promise = Guarantee(Pure(1.0), Unit.USER, Adjacency.REPLACE, ("n is public", "floats are exact"), "a theorem")
    parts = promise.parts()
    assert parts.assumptions == promise.assumes
    for piece in (parts.protected, parts.bound, parts.how_sure, *parts.assumptions, *parts.not_protected):
        assert piece and piece in promise.explain()


@given(st.floats(1e-300, 1e300), st.integers(1, 9))
def test_printed_numbers_never_state_less(value, digits):
    """But for one part in 10^12, which sums of doubles lose by themselves; and never more than one digit too much."""
    up, down = float(upward(value, digits)), float(downward(value, digits))
    assert value * (1 - 1.1e-12) <= up <= value * (1 + 1.01 * 10.0 ** (1 - digits))
    assert value * (1 - 1.01 * 10.0 ** (1 - digits)) <= down <= value * (1 + 1.1e-12)


def test_sentences_round_up():
    assert "epsilon 0.3607" in Pure(0.3606273).sentence() and "epsilon 0.3)" in Pure(0.1 + 0.2).sentence()
    assert "probability 1.24e-06" in Approx(1.0, 1.2301e-6).sentence()
    assert upward(math.inf) == "inf" and upward(0.0) == "0"


@pytest.mark.parametrize("bad", [-1, math.nan, "1", None, True])
def test_bad_epsilon(bad):
    with pytest.raises(ValueError, match="epsilon must be"):
        Pure(bad)
