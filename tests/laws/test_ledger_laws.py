"""Laws of the ledger: order does not matter, budgets always hold, every change of a line is noticed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.accounting.book import Book, charge_body
from textveil.accounting.budgets import Budget
from textveil.accounting.chain import Head, Line, check, next_line
from textveil.core import (
    Adjacency,
    BrokenChain,
    BudgetExceeded,
    CountNoise,
    Event,
    LaplaceNoise,
    MetricNoise,
    Stated,
    Unit,
    event_from_json,
)

untimed = settings(deadline=None)  # a busy machine is no reason to fail

epsilons = st.floats(1e-3, 2)
metric_events = st.builds(
    lambda e, m, i, n: Event(MetricNoise(e, m, i), Unit.WORD, Adjacency.METRIC, times=n),
    epsilons,
    st.sampled_from(["hamming", "euclidean"]),
    st.sampled_from(["a", "b"]),
    st.integers(1, 3),
)
count_events = st.builds(
    lambda e, n, d: Event(CountNoise(e, n, d), Unit.DOCUMENT, Adjacency.METRIC),
    epsilons,
    st.integers(1, 20),
    st.sampled_from([0.0, 1e-12]),
)
plain_events = st.builds(
    lambda noise, a, n: Event(noise, Unit.USER, a, times=n),
    st.one_of(st.builds(Stated, epsilons, st.sampled_from([0.0, 1e-8])), st.builds(LaplaceNoise, st.floats(0.5, 10))),
    st.sampled_from([Adjacency.ADD_REMOVE, Adjacency.REPLACE]),
    st.integers(1, 3),
)
events = st.one_of(metric_events, count_events, plain_events)


def lines_of(charged: list[Event], budgets: list[Budget] | None = None) -> list[Line]:
    bodies = [("budget", b.to_json()) for b in budgets or []] + [("charge", charge_body(e)) for e in charged]
    lines, head = [], Head()
    for kind, body in [("opened", {}), *bodies]:
        lines.append(next_line(head, "2025-01-01T00:00:00+00:00", kind, body))
        head = Head(lines[-1].number, lines[-1].hash)
    return lines


def head_of(lines: list[Line]) -> Head:
    return Head(lines[-1].number, lines[-1].hash)


def totals(charged: list[Event]) -> list[dict]:
    return [total.to_json() for total in Book("law", lines_of(charged)).totals()]


def agree(one: list[dict], other: list[dict]) -> bool:
    """Equal up to rounding of sums."""
    if len(one) != len(other):
        return False
    for a, b in zip(one, other, strict=True):
        x, y = a["loss"], b["loss"]
        same = (a["unit"], a["adjacency"], x["kind"], x.get("n")) == (b["unit"], b["adjacency"], y["kind"], y.get("n"))
        near = all(math.isclose(x.get(k, 0.0), y.get(k, 0.0), rel_tol=1e-12) for k in ("epsilon", "delta"))
        if not (same and near):
            return False
    return True


@untimed
@given(st.lists(events, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_charges_does_not_matter(charged, random):
    shuffled = list(charged)
    random.shuffle(shuffled)
    assert agree(totals(charged), totals(shuffled))


@untimed
@given(events, st.integers(1, 5))
def test_n_at_once_equals_n_one_by_one(event, n):
    assert agree(totals([replace(event, times=event.times * n)]), totals([event] * n))


@untimed
@given(st.lists(events, min_size=1, max_size=6), events)
def test_one_more_charge_never_lowers_what_was_spent(charged, more):
    first, second = (Book("law", lines_of(c)).groups() for c in (charged, [*charged, more]))
    for budget in (Budget.of("user", 1.0, 1e-6), Budget.of("word", 1.0, metric="hamming")):
        before, after = budget.spent(first), budget.spent(second)
        assert before.epsilon <= after.epsilon and before.delta <= after.delta


@untimed
@given(st.lists(count_events, min_size=1, max_size=6))
def test_counts_add_per_count(charged):
    total, word = Book("law", lines_of(charged)).totals()
    assert (word.unit, word.from_larger) == (Unit.WORD, len(charged))
    per_count = math.fsum(e.noise.epsilon / e.noise.precision for e in charged)
    assert math.isclose(total.loss.epsilon / total.loss.n, per_count, rel_tol=1e-12)
    assert total.loss.delta >= math.fsum(e.noise.delta for e in charged) * (1 - 1e-12)


@untimed
@given(st.lists(events, min_size=6, max_size=16), st.floats(1, 4))
def test_whatever_is_tried_no_budget_is_exceeded(tried, epsilon):
    budgets = [
        Budget.of("word", epsilon, metric="hamming"),
        Budget.of("document", epsilon, 1e-9, precision=10),
        Budget.of("user", epsilon, 1e-8),
        Budget.of("user", epsilon / 2, 1e-8, adjacency="replace"),
    ]
    accepted: list[Event] = []
    for event in tried:
        try:
            Book("law", lines_of(accepted, budgets)).check_charge(event)
        except BudgetExceeded:
            continue
        accepted.append(event)
    by_hand = {
        "word": math.fsum(e.noise.epsilon * e.times for e in accepted if e.unit is Unit.WORD),
        "document": math.fsum(10 * e.noise.epsilon / e.noise.precision for e in accepted if e.unit is Unit.DOCUMENT),
        "user": math.fsum(_epsilon(e) for e in accepted if e.unit is Unit.USER),
    }
    assert all(spent <= epsilon * (1 + 1e-9) for spent in by_hand.values())
    assert all(e.noise.metric == "hamming" for e in accepted if e.unit is Unit.WORD)
    replaced = math.fsum(_epsilon(e) for e in accepted if e.adjacency is Adjacency.REPLACE)
    assert replaced <= epsilon / 2 * (1 + 1e-9)


def _epsilon(event: Event) -> float:
    if isinstance(event.noise, Stated):
        return event.noise.epsilon * event.times
    factor = 2 if event.adjacency is Adjacency.REPLACE else 1
    return factor / event.noise.multiplier * event.times


@untimed
@given(events)
def test_an_event_is_read_back_as_it_was_written(event):
    assert event_from_json(lines_of([event])[1].values) == event


@untimed
@given(st.lists(events, min_size=1, max_size=6), st.data())
def test_every_change_of_one_value_is_noticed(charged, data):
    lines = lines_of(charged)
    head = head_of(lines)
    check(lines, head, "law")
    at = data.draw(st.integers(0, len(lines) - 1))
    name = data.draw(st.sampled_from(["number", "created", "kind", "body", "note", "previous", "hash"]))
    old = getattr(lines[at], name)
    new = data.draw(st.integers(-5, 20) if name == "number" else st.text("ab01{", max_size=5))
    if new == old:
        return
    lines[at] = replace(lines[at], **{name: new})
    with pytest.raises(BrokenChain, match=f"line {at + 1}"):
        check(lines, head, "law")


@untimed
@given(st.lists(events, min_size=2, max_size=6), st.data())
def test_every_missing_doubled_or_moved_line_is_noticed(charged, data):
    lines = lines_of(charged)
    head = head_of(lines)
    chosen = data.draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 1))
    if chosen == lines:
        return
    with pytest.raises(BrokenChain):
        check(chosen, head, "law")


@untimed
@given(st.lists(events, min_size=1, max_size=4), st.integers(0, 3))
def test_a_chain_that_was_written_anew_is_noticed_with_a_kept_head(charged, at):
    kept = head_of(lines_of(charged))
    altered = list(charged)
    altered[at % len(charged)] = replace(altered[at % len(charged)], mechanism="something.else")
    lines = lines_of(altered)
    check(lines, head_of(lines), "law")  # consistent in itself: this is what the kept head is for
    with pytest.raises(BrokenChain):
        check(lines, head_of(lines), "law", kept)
