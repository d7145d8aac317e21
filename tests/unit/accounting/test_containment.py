"""Larger units bound smaller ones: each conversion against mechanisms small enough to enumerate."""

from __future__ import annotations

import itertools
import math

import pytest

from textveil.accounting import prices
from textveil.accounting.containment import INSIDE, for_part
from textveil.accounting.ledger import Ledger
from textveil.core import (
    Adjacency,
    BudgetExceeded,
    CountNoise,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    MetricNoise,
    PoissonSampled,
    RepeatedNoise,
    Stated,
    Together,
    Unit,
)


def event(noise, unit=Unit.DOCUMENT, adjacency=Adjacency.ADD_REMOVE) -> Event:
    return Event(noise, unit, adjacency)


def divergence(one, other, epsilon):
    """The delta that two laws need at an epsilon, whichever of them is the true one."""
    ways = ((one, other), (other, one))
    return max(math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(a, b, strict=True)) for a, b in ways)


def stated(epsilon, delta):
    """The four results of the worst (epsilon, delta) mechanism, in one world; reversed in the other."""
    odds = math.exp(epsilon)
    return [delta, (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds), 0.0]


@pytest.mark.parametrize("epsilon, delta", [(0.5, 0.0), (1.0, 0.0), (1.0, 0.01), (0.2, 0.1)])
def test_replacing_a_part_costs_at_most_two_steps_through_the_world_without_it(epsilon, delta):
    """Two independent looks, one worst in each step: with L, without it, with L'. No pair exceeds the converted promise."""
    there, away = stated(epsilon, delta), stated(epsilon, delta)[::-1]
    with_first = [p * q for p, q in itertools.product(there, away)]
    without = [p * q for p, q in itertools.product(away, away)]
    with_second = [p * q for p, q in itertools.product(away, there)]
    assert divergence(with_first, without, epsilon) <= delta + 1e-15  # the promise for adding or removing holds
    assert divergence(without, with_second, epsilon) <= delta + 1e-15
    part = for_part(event(Stated(epsilon, delta)), Unit.WORD)
    assert (part.unit, part.adjacency) == (Unit.WORD, Adjacency.REPLACE)
    assert part.noise.epsilon == 2 * epsilon and part.noise.delta == pytest.approx((1 + math.exp(epsilon)) * delta)
    assert divergence(with_first, with_second, part.noise.epsilon) <= part.noise.delta + 1e-15
    if delta == 0:  # and for pure promises it is attained
        assert divergence(with_first, with_second, part.noise.epsilon - 1e-6) > 0


@pytest.mark.parametrize("epsilon, precision", [(1.0, 10), (2.0, 3), (0.5, 1)])
def test_one_word_replaced_moves_two_counts_by_one(epsilon, precision):
    """Two-sided geometric noise on two counts, enumerated: the largest log ratio between (1, 0) and (0, 1) is 2 eps / N."""
    alpha = math.exp(-epsilon / precision)

    def law(count):
        return {k: alpha ** abs(k - count) for k in range(-30, 31)}

    cells = itertools.product(range(-30, 31), repeat=2)
    ratio = max(law(1)[a] * law(0)[b] / (law(0)[a] * law(1)[b]) for a, b in cells)
    part = for_part(event(CountNoise(epsilon, precision), adjacency=Adjacency.METRIC), Unit.WORD)
    assert part.noise.epsilon == pytest.approx(math.log(ratio)) == pytest.approx(2 * epsilon / precision)


def test_noise_on_sums_keeps_its_law_and_never_costs_more_than_the_general_rule():
    delta = 1e-6
    for noise in (GaussianNoise(2.0), LaplaceNoise(2.0), PoissonSampled(0.1, GaussianNoise(2.0))):
        larger = event(noise)
        own = prices.price(for_part(larger, Unit.WORD), delta=delta).epsilon
        shares = [delta / (1 + math.exp(e)) for e in (prices.price(larger, delta=delta / 1000).epsilon,)]
        general = min(2 * prices.price(larger, delta=share).epsilon for share in shares)
        assert own <= general * (1 + 1e-9)
    assert prices.price(for_part(event(LaplaceNoise(2.0)), Unit.WORD)).epsilon == 1.0  # 2 C / (2 C)


def test_parts_of_an_event_are_converted_each_in_its_way():
    noise = Together((RepeatedNoise(GaussianNoise(2.0), 3), RepeatedNoise(Stated(0.5, 1e-7))))
    part = for_part(event(noise, Unit.USER), Unit.EXAMPLE)
    assert part.noise.parts[0] == RepeatedNoise(GaussianNoise(2.0), 3) and part.noise.parts[1].noise.epsilon == 1.0


def test_replacing_the_larger_unit_is_replacing_the_part_and_is_not_doubled():
    for noise in (Stated(1.0, 1e-7), FixedSampled(100, 10, GaussianNoise(1.0))):
        assert for_part(event(noise, adjacency=Adjacency.REPLACE), Unit.WORD).noise == noise


@pytest.mark.parametrize(
    "larger, unit",
    [
        (event(Stated(1.0), Unit.EXAMPLE), Unit.PARAGRAPH),
        (event(Stated(1.0), Unit.EXAMPLE), Unit.DOCUMENT),
        (event(Stated(1.0), Unit.DOCUMENT), Unit.EXAMPLE),
        (event(Stated(1.0), Unit.CLIENT), Unit.USER),
        (event(Stated(1.0), Unit.TERM), Unit.WORD),
        (event(Stated(1.0), Unit.TERM), Unit.DOCUMENT_TERM),
        (event(Stated(1.0), Unit.DOCUMENT_TERM), Unit.WORD),
        (event(Stated(1.0), Unit.WORD), Unit.DOCUMENT_TERM),
        (event(Stated(1.0), Unit.PARAGRAPH), Unit.DOCUMENT_TERM),
        (event(Stated(1.0), Unit.EXAMPLE), Unit.DOCUMENT_TERM),
        (event(CountNoise(1.0, 10), adjacency=Adjacency.METRIC), Unit.DOCUMENT_TERM),
        (event(Stated(1.0), Unit.WORD), Unit.DOCUMENT),
        (event(CountNoise(1.0, 10), adjacency=Adjacency.METRIC), Unit.PARAGRAPH),
        (event(MetricNoise(1.0, "euclidean"), adjacency=Adjacency.METRIC), Unit.WORD),
    ],
)
def test_where_no_conversion_is_known_there_is_none(larger, unit):
    assert for_part(larger, unit) is None


def test_containment_is_transitive_and_has_no_circle():
    for large, small in INSIDE.items():
        assert large not in small
        assert all(set(INSIDE.get(unit, ())) <= set(small) for unit in small)


def test_totals_of_smaller_units_count_larger_charges(tmp_path):
    ledger = Ledger(tmp_path / "notes.ledger")
    ledger.charge(event(Stated(1.0, 1e-7)))
    ledger.charge(event(CountNoise(1.0, 10), adjacency=Adjacency.METRIC))
    ledger.charge(Event(Stated(0.25), Unit.PARAGRAPH, Adjacency.ADD_REMOVE))
    lines = {(str(t.unit), str(t.adjacency)): t for t in ledger.total()}
    assert lines["word", "replace"].loss.epsilon == pytest.approx(2.0 + 0.2 + 0.5)
    assert (lines["word", "replace"].charges, lines["word", "replace"].from_larger) == (3, 3)
    assert lines["paragraph", "replace"].loss.epsilon == pytest.approx(2.0)
    assert lines["document_term", "replace"].loss.epsilon == pytest.approx(2.0)  # all its places stand in one document
    assert lines["paragraph", "add_remove"].loss.epsilon == pytest.approx(2.25)  # adding a part is a change inside too
    assert lines["document", "add_remove"].loss.epsilon == 1.0
    (sentence,) = ledger.state()["unconverted"]
    assert "per document (metric counts_l1)" in sentence and "each paragraph" in sentence


def test_budgets_of_smaller_units_are_drawn_down(tmp_path):
    ledger = Ledger.new(tmp_path / "notes.ledger", unit="word", epsilon=2.5, adjacency="replace")
    ledger.allow(unit="document", epsilon=10)
    ledger.charge(event(Stated(1.0)))
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.5 left \(unit: word, adjacency: replace\)"):
        ledger.charge(event(Stated(1.0)))
    ledger.charge(event(Stated(0.25)))
    assert {b["unit"]: b["spent"] for b in ledger.state()["budgets"]} == {"word": 2.5, "document": 1.25}


def test_a_metric_budget_is_not_drawn_down_and_that_is_said(tmp_path):
    ledger = Ledger.new(tmp_path / "notes.ledger", unit="word", metric="hamming", epsilon=1)
    ledger.allow(unit="document", epsilon=10)
    ledger.charge(event(Stated(1.0)))
    state = ledger.state()
    assert {b["unit"]: b["spent"] for b in state["budgets"]} == {"word": 0.0, "document": 1.0}
    assert any("metric hamming" in sentence for sentence in state["unconverted"])


def test_noise_under_two_adjacencies_is_composed_apart(tmp_path):
    ledger = Ledger(tmp_path / "notes.ledger")
    ledger.charge(Event(GaussianNoise(4.0), Unit.PARAGRAPH, Adjacency.ADD_REMOVE))
    ledger.charge(event(GaussianNoise(4.0)))
    (line,) = [t for t in ledger.total(1e-6) if (t.unit, t.adjacency) == (Unit.PARAGRAPH, Adjacency.ADD_REMOVE)]
    halves = [prices.price(Event(GaussianNoise(4.0), Unit.USER, a), delta=5e-7) for a in ("add_remove", "replace")]
    assert line.loss.epsilon == pytest.approx(sum(half.epsilon for half in halves))
