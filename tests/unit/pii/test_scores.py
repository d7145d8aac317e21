"""Scores: the paper's Table 3, permutations, several predictions for one span, counts of errors, and a peer."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.pii.annotate.fields import FieldValue, Kind
from textveil.pii.scores.errors import errors_of, kind_of
from textveil.pii.scores.intervals import DocumentSpans, difference, scores_of, sums_of
from textveil.pii.scores.matching import Pair, bare, matched, total_reward
from textveil.pii.scores.rewards import MEASURES, Scheme, reward
from textveil.pii.spans import Span

GOLD = Span(0, 11, "NAME")  # "Adam London"
TABLE_3 = {
    "name [Adam London]": (Span(0, 11, "NAME"), (1.0, 1.0, 1.0, 1.0)),
    "Adam name [London]": (Span(5, 11, "NAME"), (0.0, 0.0, 0.5, 0.5)),
    "place [Adam London]": (Span(0, 11, "PLACE"), (0.0, 1.0, 0.0, 0.5)),
    "Adam place [London]": (Span(5, 11, "PLACE"), (0.0, 0.0, 0.0, 0.5)),
}
SEMEVAL = {"Adam name [London]": (0.0, 0.0, 1.0, 0.5), "place [Adam London]": (0.0, 1.0, 0.0, 1.0)}


@pytest.mark.parametrize("row", TABLE_3)
def test_table_3_of_the_paper(row: str) -> None:
    found, printed = TABLE_3[row]
    assert tuple(reward(GOLD, found, m) for m in MEASURES) == printed
    expected = SEMEVAL.get(row, printed)
    assert tuple(reward(GOLD, found, m, Scheme.SEMEVAL) for m in MEASURES) == expected


spans = st.lists(
    st.tuples(st.integers(0, 14), st.integers(1, 6), st.sampled_from("AB")).map(
        lambda t: Span(t[0], t[0] + t[1], t[2])
    ),
    max_size=7,
)


@given(gold=spans, found=spans, seed=st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_no_permutation_changes_any_score(gold: list[Span], found: list[Span], seed: int) -> None:
    shuffler = random.Random(seed)
    other_gold, other_found = shuffler.sample(gold, len(gold)), shuffler.sample(found, len(found))
    for scheme in Scheme:
        one = sums_of([DocumentSpans("a", gold, found)], scheme)
        other = sums_of([DocumentSpans("a", other_gold, other_found)], scheme)
        assert (one == other).all()
    assert matched(gold, found) == matched(other_gold, other_found)
    report, again = (
        errors_of([DocumentSpans("a", gold, found)]),
        errors_of([DocumentSpans("a", other_gold, other_found)]),
    )
    assert report == again


@given(gold=spans, found=spans)
@settings(max_examples=80, deadline=None)
def test_the_matching_is_the_best_of_all_by_enumeration(gold: list[Span], found: list[Span]) -> None:
    gold, found = bare(gold)[:4], bare(found)[:4]
    for scheme in Scheme:
        for measure in MEASURES:
            best = _best(gold, found, lambda g, f, m=measure, s=scheme: reward(g, f, m, s))
            assert total_reward(gold, found, measure, scheme) == pytest.approx(best)


def _best(gold: list[Span], found: list[Span], worth) -> float:
    if not gold or not found:
        return 0.0
    head, rest = gold[0], gold[1:]
    skipped = _best(rest, found, worth)
    taken = [worth(head, f) + _best(rest, [x for x in found if x is not f], worth) for f in found]
    return max(skipped, *taken)


def test_of_several_predictions_in_one_span_one_earns() -> None:
    gold = [Span(0, 20, "A")]
    found = [Span(0, 5, "A"), Span(6, 12, "A"), Span(0, 20, "A"), Span(13, 20, "B")]
    score = scores_of(sums_of([DocumentSpans("a", gold, found)], Scheme.PAPER))["strict"]
    assert (score.precision, score.recall) == (0.25, 1.0)
    partial = scores_of(sums_of([DocumentSpans("a", gold, found[:2])], Scheme.PAPER))["partial"]
    assert (partial.precision, partial.recall) == (0.25, 0.5)


def test_kinds_of_errors_and_the_cost_of_correcting_them() -> None:
    text = "Ann wed Bob Ray in Troy; Eve Fox left."
    gold = [Span(0, 3, "SP"), Span(8, 15, "SP"), Span(25, 32, "CH")]
    found = [Span(0, 3, "SP"), Span(8, 11, "SP"), Span(19, 23, "CH")]
    values = [FieldValue("spouse", "SP", Kind.PERSON, "Ann"), FieldValue("child", "CH", Kind.PERSON, "Troy")]
    report = errors_of([DocumentSpans("a", gold, found)], {"a": text}, {"a": values})
    assert report.kinds == {"right": 1, "boundary": 1, "missing from the record": 1, "ambiguous name": 1}
    assert report.to_json()["actions"] == 0 + 1 + 2 + 1
    assert report.to_json()["actions_saved"] == pytest.approx(1 - 4 / 6)
    assert report.documents_complete == 0
    assert kind_of(Pair(Span(0, 3, "A"), Span(0, 3, "B"))) == "label"
    assert kind_of(Pair(Span(0, 3, "A"), Span(1, 3, "B"))) == "boundary and label"
    assert kind_of(Pair(None, Span(0, 7, "A")), "Ann Fox") == "about another person"


def test_a_document_is_complete_when_pieces_cover_every_span() -> None:
    whole = DocumentSpans("a", [Span(0, 10, "A")], [Span(0, 6, "B"), Span(6, 12, "C")])
    holed = DocumentSpans("b", [Span(0, 10, "A")], [Span(0, 5, "A"), Span(6, 12, "A")])
    assert errors_of([whole, holed]).documents_complete == 1


def test_intervals_hold_the_value_and_shrink_with_documents() -> None:
    one = DocumentSpans("a", [Span(0, 3, "A"), Span(5, 8, "A")], [Span(0, 3, "A")])
    other = DocumentSpans("b", [Span(0, 3, "A")], [Span(0, 3, "A")])
    few, many = (scores_of(sums_of([one, other] * n, Scheme.PAPER))["strict"] for n in (5, 200))
    for score in (few, many):
        low, high = score.intervals["f1"]
        assert low <= score.f1 <= high
    widths = [high - low for low, high in (few.intervals["f1"], many.intervals["f1"])]
    assert widths[1] < widths[0]


def test_a_system_does_not_differ_from_itself() -> None:
    found = DocumentSpans("a", [Span(0, 3, "A")], [Span(0, 3, "A")])
    sums = sums_of([found, DocumentSpans("b", [Span(0, 3, "A")], [])], Scheme.PAPER)
    assert difference(sums, sums, "strict") == (0.0, (0.0, 0.0))


def test_nervaluate_agrees_where_the_definitions_do() -> None:
    """SemEval's scheme, spans that overlap one to one: nervaluate matches greedily, so other cases may differ."""
    nervaluate = pytest.importorskip("nervaluate")
    gold = [Span(0, 3, "A"), Span(5, 8, "B"), Span(10, 14, "A"), Span(20, 22, "B"), Span(30, 33, "A")]
    found = [Span(0, 3, "A"), Span(5, 7, "B"), Span(10, 14, "B"), Span(21, 24, "A"), Span(40, 44, "A")]
    peer = nervaluate.Evaluator([[_peer(s) for s in gold]], [[_peer(s) for s in found]], tags=["A", "B"], loader="dict")
    theirs = peer.evaluate()["overall"]
    ours = scores_of(sums_of([DocumentSpans("a", gold, found)], Scheme.SEMEVAL))
    for name, their_name in (("strict", "strict"), ("exact", "exact"), ("partial", "partial"), ("type", "ent_type")):
        assert ours[name].precision == pytest.approx(theirs[their_name].precision)
        assert ours[name].recall == pytest.approx(theirs[their_name].recall)


def _peer(span: Span) -> dict[str, object]:
    return {"label": span.label, "start": span.start, "end": span.end - 1}
