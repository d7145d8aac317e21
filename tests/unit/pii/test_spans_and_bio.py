"""Files of spans and BIO files: what is read, what is refused, and that the two say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.core import BadInput
from textveil.pii.bio import TaggedDocument, bio_lines, read_bio, runs, tags_of
from textveil.pii.spans import Span, check_apart, check_inside, read_spans, span_lines


def test_spans_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    spans = [Span(3, 9, "SP", 0.25, "record:spouse"), Span(12, 14, "CH")]
    path.write_text(span_lines("a", spans) + span_lines("b", spans[:1]))
    assert read_spans(path) == {"a": spans, "b": spans[:1]}


def test_type_is_read_as_label_and_ids_as_text(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps({"id": 7, "start": 0, "end": 2, "type": "BD"}) + "\n")
    assert read_spans(path) == {"7": [Span(0, 2, "BD")]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"start": 0, "end": 2, "label": "BD"}, "line 1, field 'id': is missing"),
        ({"id": "a", "start": 2, "end": 2, "label": "BD"}, "above the start"),
        ({"id": "a", "start": True, "end": 2, "label": "BD"}, "a whole number"),
        ({"id": "a", "start": 0, "end": 2}, "a label"),
        ({"id": "a", "start": 0, "end": 2, "label": "B D"}, "without blanks"),
        ({"id": "a", "start": 0, "end": 2, "label": "BD", "score": 2}, "from 0 to 1"),
    ],
)
def test_a_bad_span_is_named_by_its_line(tmp_path: Path, row: dict[str, object], message: str) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(BadInput, match=message):
        read_spans(path)


def test_spans_that_overlap_or_reach_too_far_are_refused() -> None:
    check_apart([Span(4, 9, "A"), Span(0, 4, "B")], where="f", name="1")
    with pytest.raises(BadInput, match="document '1' overlap, from 4 to 9"):
        check_apart([Span(4, 9, "A"), Span(0, 12, "B")], where="f", name="1")
    with pytest.raises(BadInput, match=r"does not fit document .1. of 8"):
        check_inside([Span(4, 9, "A")], 8, where="f", name="1")


def test_an_i_after_o_is_refused_with_its_line_or_repaired(tmp_path: Path) -> None:
    path = tmp_path / "gold.conll"
    path.write_text("-DOCSTART- O\n\nAnna B-SP\nMeyer I-SP\n\nwas O\nborn I-BD\nhere O\n")
    first, second = read_bio(path)
    assert first.spans() == [Span(0, 10, "SP")]
    with pytest.raises(BadInput, match=r"gold.conll, line 7: an I- tag goes on with a span that has not begun"):
        second.spans(where=path)
    assert second.spans(repair=True) == [Span(4, 8, "BD")]
    with pytest.raises(BadInput, match="has not begun"):
        runs(["B-SP", "I-CH"])
    with pytest.raises(BadInput, match="is no BIO tag"):
        runs(["B_SP"])


def test_a_token_without_a_tag_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.conll"
    path.write_text("Anna B-SP\nMeyer\n")
    with pytest.raises(BadInput, match="line 2: has a token and no tag"):
        list(read_bio(path))


@settings(deadline=None)
@given(st.lists(st.sampled_from(["O", "B-X", "B-Y", "I-X", "I-Y"]), max_size=12))
def test_tags_and_spans_say_the_same(tags: list[str]) -> None:
    document = TaggedDocument([f"w{i}" for i in range(len(tags))], tags)
    spans = document.spans(repair=True)
    places = [(s, s + len(t)) for s, t in zip(_starts(document.tokens), document.tokens, strict=True)]
    again = document._replace(tags=tags_of(places, spans))
    assert again.spans() == spans


def _starts(tokens: list[str]) -> list[int]:
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token) + 1
    return starts


def test_bio_lines_end_with_a_blank_line(tmp_path: Path) -> None:
    path = tmp_path / "out.conll"
    path.write_text(bio_lines("Anna called.", [Span(0, 4, "SP")]) + bio_lines("Bob", []))
    assert [(d.tokens, d.tags) for d in read_bio(path)] == [
        (["Anna", "called", "."], ["B-SP", "O", "O"]),
        (["Bob"], ["O"]),
    ]
