"""The store of a review: nothing that was saved is lost, nothing is written over, only its owner reads it."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.core import BadInput
from textveil.pii.bio import bio_of, token_places
from textveil.pii.review.agreement import agreement, agreement_of
from textveil.pii.review.exports import EXPORTS, export
from textveil.pii.review.marks import Mark, Status, check_apart, kept_spans
from textveil.pii.review.queue import Certainty, queue
from textveil.pii.review.store import ReviewDocument, ReviewStore, StaleDocument
from textveil.text.spans import Span


def document(name: str, *scores: float) -> ReviewDocument:
    text = " ".join(f"name{k}" for k in range(max(1, len(scores))))
    spans = [Span(6 * k, 6 * k + 5, "PERSON", score, "rule") for k, score in enumerate(scores)]
    return ReviewDocument(name, text, [Mark(span) for span in spans], {"name": "Ada"})


@pytest.fixture
def store(tmp_path):
    return ReviewStore.create(tmp_path / "a.review", [document("a", 0.9), document("b", 0.5, 0.5), document("c")])


def decided(store, number, status, reviewer="ada"):
    marks = [Mark(mark.span, status) for mark in store.state(reviewer, number).marks]
    return store.save(reviewer, number, store.state(reviewer, number).version, marks, done=True, seconds=2.0)


def test_only_the_owner_reads_the_store(store):
    assert store.path.stat().st_mode & 0o777 == 0o600


def test_a_store_is_never_overwritten_and_a_half_one_never_stands(tmp_path, store):
    with pytest.raises(BadInput, match="exists already"):
        ReviewStore.create(store.path, [])
    with pytest.raises(BadInput, match="stands there twice"):
        ReviewStore.create(tmp_path / "twice.review", [document("a"), document("a")])
    assert os.listdir(tmp_path) == ["a.review"]


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "x").write_text("no database at all, just a line of text that is long enough to be read as one")
    with pytest.raises(BadInput, match="is no store"):
        ReviewStore(tmp_path / "x")
    with pytest.raises(BadInput, match="does not exist"):
        ReviewStore(tmp_path / "y")


def test_each_reviewer_has_an_own_pass(store):
    decided(store, 0, Status.REJECTED, "ada")
    decided(store, 0, Status.CONFIRMED, "bob")
    assert store.reviewers() == ["ada", "bob"]
    assert [m.status for m in store.state("ada", 0).marks] == [Status.REJECTED]
    assert [m.status for m in store.state("bob", 0).marks] == [Status.CONFIRMED]
    assert store.state("eve", 0).marks[0].status is Status.PROPOSED


def test_a_step_on_an_old_state_is_refused(store):
    before = store.state("ada", 0).version
    decided(store, 0, Status.CONFIRMED)
    with pytest.raises(StaleDocument):
        store.save("ada", 0, before, [], done=True)
    assert kept_spans(store.state("ada", 0).marks)
    store.undo("ada")
    with pytest.raises(StaleDocument):  # an undo is a change too
        store.save("ada", 0, before, [], done=True)


def test_of_two_pages_at_once_exactly_one_saves(store):
    outcomes = []

    def save():
        try:
            outcomes.append(store.save("ada", 1, 0, [], done=True))
        except StaleDocument:
            outcomes.append("stale")

    threads = [threading.Thread(target=save) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["1"] + ["stale"] * 7


def test_undo_goes_back_step_by_step(store):
    decided(store, 0, Status.CONFIRMED)
    decided(store, 1, Status.REJECTED)
    assert [store.undo("ada"), store.undo("ada"), store.undo("ada")] == [1, 0, None]
    assert store.progress("ada")["done"] == 0


def test_a_saved_step_survives_kill_9(store):
    child = os.fork()
    if child == 0:
        decided(store, 2, Status.CONFIRMED)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert ReviewStore(store.path).done_numbers("ada") == {2}


def test_the_time_left_follows_the_pace_and_leaves_pauses_out(store):
    assert store.progress("ada")["seconds_left"] is None
    decided(store, 0, Status.CONFIRMED)
    assert store.progress("ada")["seconds_left"] == 4.0
    store.save("ada", 1, 0, [], done=True, seconds=99_999)
    assert store.progress("ada")["seconds_left"] < 160


@pytest.mark.parametrize(
    "row",
    [
        {"start": -1, "end": 2, "label": "A"},
        {"start": 2, "end": 2, "label": "A"},
        {"start": 0, "end": 99, "label": "A"},
        {"start": 0.5, "end": 2, "label": "A"},
        {"start": True, "end": 2, "label": "A"},
        {"start": 0, "end": 2, "label": ""},
        {"start": 0, "end": 2, "label": "A", "score": 7},
        {"start": 0, "end": 2, "label": "A", "status": "maybe"},
        {"start": 0, "end": 2},
        "secret",
        None,
    ],
)
def test_marks_that_a_page_sends_are_not_trusted(row):
    with pytest.raises(BadInput) as error:
        Mark.from_json(row, 10)
    assert "secret" not in str(error.value)


def test_overlapping_marks_are_refused_unless_rejected(store):
    one, two = Mark(Span(0, 5, "A"), Status.ADDED), Mark(Span(3, 8, "B"), Status.CONFIRMED)
    with pytest.raises(BadInput, match="from 3 to 5"):
        store.save("ada", 1, 0, [one, two], done=False)
    check_apart([one, Mark(two.span, Status.REJECTED)])


# ---- queue ---------------------------------------------------------------------------------------------------------


def test_the_most_uncertain_document_comes_first(store):
    assert queue(store, "ada") == [1, 0, 2]
    decided(store, 1, Status.CONFIRMED)
    assert queue(store, "ada") == [0, 2]


def test_the_review_corrects_what_a_rule_thinks_of_itself():
    """A rule that is sure and wrong becomes uncertain, one that is unsure and right becomes certain."""
    certainty = Certainty()
    sure, unsure = Mark(Span(0, 5, "PERSON", 0.95, "sure")), Mark(Span(0, 5, "PERSON", 0.5, "unsure"))
    assert certainty.probability(unsure) == pytest.approx(0.5)
    for _ in range(20):
        certainty.learn([sure], [Mark(sure.span, Status.REJECTED)])
        certainty.learn([unsure], [Mark(unsure.span, Status.CONFIRMED)])
    assert certainty.probability(sure) < 0.5
    assert certainty.probability(unsure) > 0.8
    assert certainty.uncertainty([unsure]) < 1.0


# ---- agreement -----------------------------------------------------------------------------------------------------


def test_kappa_equals_a_calculation_by_hand(store):
    """10 characters: both mark 2, one marks 1 more, the other 1 elsewhere: p = .8, chance = .09 + .49."""
    found = agreement([(10, [Span(0, 3, "A")], [Span(0, 2, "A"), Span(5, 6, "A")])])
    assert found.share == pytest.approx(0.8)
    assert found.kappa == pytest.approx((0.8 - 0.58) / (1 - 0.58))
    assert found.span_f1 == 0.0


def test_agreement_looks_at_what_both_have_finished(store):
    decided(store, 0, Status.CONFIRMED, "ada")
    decided(store, 1, Status.CONFIRMED, "ada")
    decided(store, 0, Status.CONFIRMED, "bob")
    assert agreement_of(store, "ada", "bob").documents == 1
    assert agreement_of(store, "ada", "bob").span_f1 == 1.0
    assert agreement_of(store, "ada", "eve").kappa is None


# ---- exports -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", EXPORTS)
def test_only_finished_documents_are_exported(store, format):
    decided(store, 1, Status.CONFIRMED)
    text = "".join(export(format, store.states("ada")))
    assert text.count("PERSON") == 2  # the two names of the second document, and nothing of the others


def test_bio_has_a_tag_for_every_token():
    text = "Dr. Anna-Lena Meyer (born 1970) called."
    tagged = bio_of(text, [Span(4, 19, "PERSON"), Span(26, 30, "DATE")])
    assert [tag for _, tag in tagged] == [
        "O",
        "O",
        "B-PERSON",
        "I-PERSON",
        "I-PERSON",
        "I-PERSON",
        "O",
        "O",
        "B-DATE",
        "O",
        "O",
        "O",
    ]


def test_two_spans_side_by_side_stay_two():
    assert [tag for _, tag in bio_of("Anna Bob", [Span(0, 4, "P"), Span(5, 8, "P")])] == ["B-P", "B-P"]


@given(st.text(max_size=60))
def test_tokens_lie_where_they_say(text):
    places = list(token_places(text))
    assert all(a[1] <= b[0] for a, b in pairwise(places))
    covered = {k for start, end in places for k in range(start, end)}
    assert all(text[k].isspace() for k in set(range(len(text))) - covered)


def test_the_store_keeps_its_tables(store):
    with sqlite3.connect(store.path) as database:
        names = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    database.close()
    assert {"meta", "documents", "steps"} <= names
