"""Entities by the conventions of conlleval and seqeval's default mode, as a table of cases."""

from __future__ import annotations

import pytest

from textveil.nets.entity_scores import all_outside, entities, entity_score, token_score

CASES = {
    "nothing": ("O O", []),
    "one": ("B-PER I-PER O", [("PER", 0, 1)]),
    "to the end": ("O B-PER I-PER", [("PER", 1, 2)]),
    "two in a row": ("B-PER B-PER", [("PER", 0, 0), ("PER", 1, 1)]),
    "inside starts after outside": ("O I-LOC I-LOC", [("LOC", 1, 2)]),
    "inside of another type starts anew": ("B-PER I-LOC", [("PER", 0, 0), ("LOC", 1, 1)]),
    "inside, inside of another type": ("I-PER I-LOC I-LOC O", [("PER", 0, 0), ("LOC", 1, 2)]),
    "single and end (IOBES)": ("S-PER B-LOC E-LOC", [("PER", 0, 0), ("LOC", 1, 2)]),
    "inside after an end": ("B-LOC E-LOC I-LOC", [("LOC", 0, 1), ("LOC", 2, 2)]),
    "end after outside": ("O E-LOC", [("LOC", 1, 1)]),
    "inside after a single": ("S-X I-X", [("X", 0, 0), ("X", 1, 1)]),
    "a type with a dash": ("B-a-b I-a-b", [("a-b", 0, 1)]),
    "no type": ("B I O", [("_", 0, 1)]),
    "empty": ("", []),
}


@pytest.mark.parametrize("name", CASES)
def test_entities(name):
    tags, expected = CASES[name]
    assert [tuple(e) for e in entities(tags.split())] == expected


def test_an_entity_is_right_only_whole():
    gold = [["B-PER", "I-PER", "O", "B-LOC"]]
    for said, counts in (
        ("B-PER I-PER O B-LOC", (2, 2, 2)),
        ("B-PER O O B-LOC", (2, 2, 1)),  # too short
        ("B-LOC I-LOC O B-LOC", (2, 2, 1)),  # of another type
        ("O O O O", (2, 0, 0)),
    ):
        found = entity_score(gold, [said.split()])
        assert (found.gold, found.said, found.right) == counts
    assert entity_score(gold, all_outside(gold)).f1 == 0.0
    half = entity_score(gold, ["B-PER O O B-LOC".split()])
    assert (half.precision, half.recall, half.f1) == (0.5, 0.5, 0.5)


def test_the_token_score_flatters_a_model_that_says_nothing():
    gold = [["O"] * 8 + ["B-X", "I-X"]]
    # by hand: O has precision .8, recall 1, F1 16/18; the others 0; weights .8, .1, .1
    found = token_score(gold, all_outside(gold))
    assert found.precision == pytest.approx(0.64) and found.recall == pytest.approx(0.8)
    assert found.f1 == pytest.approx(0.8 * 16 / 18)


def test_sentences_must_match():
    with pytest.raises(ValueError):
        entity_score([["O"]], [["O"], ["O"]])
