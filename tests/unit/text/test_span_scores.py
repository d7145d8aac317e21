"""Spans beside marked ones: the pairing is the best one, whatever the order; intervals hold the figure."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.text.span_scores import count_spans, score_spans

place = st.tuples(st.integers(0, 20), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))
places = st.lists(place, max_size=5)


def most_pairs(marked, found) -> int:
    """Every way to pair them, tried out."""
    few, many = sorted([sorted(set(marked)), sorted(set(found))], key=len)
    ways = permutations(many, len(few))
    return max((sum(a < d and c < b for (a, b), (c, d) in zip(few, way, strict=True)) for way in ways), default=0)


@settings(max_examples=150, deadline=None)
@given(places, places)
def test_overlaps_are_paired_in_the_best_way(marked, found):
    counts = count_spans(marked, found)
    assert counts.overlap == most_pairs(marked, found)
    assert counts.strict == len(set(marked) & set(found))
    assert count_spans(marked[::-1], found[::-1]) == counts


def test_several_finds_in_one_clause_are_right_once():
    assert count_spans([(0, 30)], [(0, 9), (10, 19), (20, 29)]) == (1, 3, 0, 1)
    assert count_spans([(0, 10)], [(10, 20)]).overlap == 0  # they touch and share nothing


def test_figures_and_intervals():
    rng = np.random.default_rng(3)
    counts = [count_spans([(0, 9)], [(0, 9)] if rng.random() < 0.7 else [(5, 12)]) for _ in range(60)]
    shown = score_spans(counts)
    right = sum(c.strict for c in counts) / 60
    assert shown["strict"]["precision"] == shown["strict"]["recall"] == shown["strict"]["f1"] == right
    low, high = shown["strict"]["intervals"]["f1"]
    assert low < right < high
    spread = 1.96 * np.sqrt(right * (1 - right) / 60)
    assert (high - low) / 2 == pytest.approx(spread, rel=0.2)
    assert shown["overlap"]["intervals"]["recall"] == [1.0, 1.0]


def test_nothing_found_and_nothing_to_find():
    assert score_spans([count_spans([], [])])["strict"]["f1"] == 0.0
    assert score_spans([])["overlap"]["intervals"]["precision"] == [0.0, 0.0]
