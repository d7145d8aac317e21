"""The meter of reassembly counts what a slow search counts, and finds what can be found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from textveil.attacks.fragments.assembly import assemble, certain_runs, maximal, overlap_graph
from textveil.attacks.fragments.examples import fragments_told
from textveil.attacks.fragments.reassembly import GreedyAttack, ReassemblyAttack
from textveil.attacks.fragments.score import (
    covered,
    entity_pairs,
    exact_sentences,
    longest_run,
    precision,
    tokens_recovered,
)
from textveil.attacks.fragments.seen import Numbers
from textveil.noise import seeded

WORD = st.sampled_from("abcd")
TEXTS = st.lists(st.lists(WORD, min_size=1, max_size=12), min_size=1, max_size=6)


def holds(text, run):
    return any(text[i : i + len(run)] == run for i in range(len(text) - len(run) + 1))


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.integers(2, 5))
def test_the_meter_equals_brute_force(texts, truth, run):
    numbers = Numbers()
    ours, theirs = numbers.of(texts), numbers.of(truth)
    expected = []
    for sentence in truth:
        marks = [False] * len(sentence)
        for i in range(len(sentence)):
            for j in range(i + run, len(sentence) + 1):
                if any(holds(text, sentence[i:j]) for text in texts):
                    marks[i:j] = [True] * (j - i)
        expected += marks
    assert covered(ours, theirs, run).tolist() == expected
    assert tokens_recovered(ours, theirs, run).hits.sum() == sum(expected)
    whole = [any(holds(text, sentence) for text in texts) for sentence in truth if len(sentence) >= run]
    assert exact_sentences(ours, theirs, run).hits.tolist() == whole
    lengths = [j - i for s in truth for i in range(len(s)) for j in range(i + 1, len(s) + 1)
               if any(holds(text, s[i:j]) for text in texts)]  # fmt: skip
    assert longest_run(ours, theirs) == max(lengths, default=0)
    grams = [text[i : i + run] for text in texts for i in range(len(text) - run + 1)]
    right = [any(holds(s, gram) for s in truth) for gram in grams]
    assert precision(ours, theirs, run) == pytest.approx(sum(right) / len(right) if right else 0.0)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_maximal_fragments_and_certain_runs_equal_brute_force(texts):
    own = Numbers().of(texts)
    kept = {tuple(own[int(i)].tolist()) for i in maximal(own)}
    every = {tuple(own[i].tolist()) for i in range(len(own))}
    assert kept == {t for t in every if not any(len(o) > len(t) and holds(list(o), list(t)) for o in every)}
    assert len(maximal(own)) == len(kept)
    runs = certain_runs(own)
    for place in range(len(own)):
        text, known = own[place].tolist(), set()
        while len(text) >= 2:
            end = tuple(text[-2:])
            following = {o[i + 2] for o in every for i in range(len(o) - 2) if o[i : i + 2] == end}
            if len(following) != 1 or end in known:
                break
            known.add(end)
            text.append(following.pop())
        assert runs[place].tolist() == text


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_joins_share_the_words_they_say(texts):
    own = Numbers().of(texts)
    own = own.take(maximal(own))
    graph = overlap_graph(own, own, np.ones(len(own), np.int64))
    for p in range(len(own)):
        for q, overlap in zip(graph.nodes[p].tolist(), graph.overlaps[p].tolist(), strict=True):
            if q >= 0:
                assert q != p
                assert own[p].tolist()[-overlap:] == own[q].tolist()[:overlap]
    assert set(np.asarray(own.words).tolist()) == set(np.asarray(assemble(own, own, np.ones(len(own))).words).tolist())


def test_windows_of_distinct_words_are_rebuilt_whole():
    seen = fragments_told("all")
    for attack in (ReassemblyAttack(), ReassemblyAttack("both", "sentences"), GreedyAttack()):
        assert attack.run(seen, rng=seeded(1)).value == 1.0
    assert ReassemblyAttack().run(fragments_told("nothing"), rng=seeded(1)).value == 0.0


def test_the_second_language_decides_where_the_first_cannot():
    """Two sentences with one middle, "x y": the source alone cannot tell which end belongs to which beginning."""
    numbers, others = Numbers(), Numbers()
    source = [["a", "b", "x", "y"], ["c", "d", "x", "y"], ["x", "y", "e", "f"], ["x", "y", "g", "h"]]
    target = [["A", "B", "P"], ["C", "D", "Q"], ["P", "E", "F"], ["Q", "G", "H"]]
    own, other = numbers.of(source), others.of(target)
    graph = overlap_graph(own, other, np.ones(4, np.int64))
    assert graph.nodes[0, 0] == 2
    assert graph.nodes[1, 0] == 3


def test_two_names_count_where_no_fragment_holds_both():
    numbers = Numbers()
    truth = numbers.of([["drug", "a", "b", "c", "effect"], ["a", "b", "c"]] + [["a", "b", "c"]] * 6)
    together, apart = numbers.of([["drug", "x", "effect"]]), numbers.of([["drug", "a"], ["c", "effect"]])
    assert entity_pairs(together, truth, beyond=4).hits.sum() == 1
    assert entity_pairs(apart, truth, beyond=4).hits.sum() == 0
    assert entity_pairs(together, truth, beyond=5).tries.sum() == 0
