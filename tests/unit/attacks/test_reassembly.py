"""The meter of reassembly counts what a slow search counts, and finds what can be found."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from textveil.attacks.fragments.assembly import assemble, certain_runs, maximal, overlap_graph
from textveil.attacks.fragments.examples import fragments_told
from textveil.attacks.fragments.neighbours import add_neighbours
from textveil.attacks.fragments.ngrams import Ngrams
from textveil.attacks.fragments.reassembly import GreedyAttack, ReassemblyAttack
from textveil.attacks.fragments.score import (
    covered,
    entity_pairs,
    exact_sentences,
    longest_run,
    precision,
    tokens_recovered,
)
from textveil.attacks.fragments.seen import Numbers, Sentences
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


def grams_of(texts, size):
    return Counter(tuple(text[i : i + size]) for text in texts for i in range(len(text) - size + 1))


@settings(max_examples=80, deadline=None)
@given(TEXTS, TEXTS)
def test_runs_of_words_are_counted_as_a_slow_count_does(texts, others):
    numbers = Numbers()
    ours, theirs = numbers.of(texts), numbers.of(others)
    unknown = theirs.words.copy()
    unknown[unknown == 2] = -1
    counts = Ngrams.of([ours, Sentences(unknown, theirs.starts)], 4)
    kept = [own[i].tolist() for own in (ours, Sentences(unknown, theirs.starts)) for i in range(len(own))]
    for keys, values, size in (
        (counts.pairs, counts.pair_counts, 2),
        (counts.triples, counts.triple_counts, 3),
        (np.arange(4), counts.words, 1),
    ):
        expected = {gram: count for gram, count in grams_of(kept, size).items() if min(gram) >= 0}
        shown = {key: count for key, count in zip(keys.tolist(), values.tolist(), strict=True) if count}
        assert shown == {sum(word * 4 ** (size - 1 - i) for i, word in enumerate(g)): n for g, n in expected.items()}


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.data())
def test_neighbours_have_the_bits_of_a_slow_search(texts, data):
    """The trigrams of both languages, each order the prior of the next, written down once more with dictionaries."""
    targets = [data.draw(st.lists(WORD, min_size=1, max_size=3)) for _ in texts]
    own, other = Numbers().of(texts), Numbers().of(targets)
    nodes, scores = np.full((len(own), 3), -1), np.full((len(own), 3), -np.inf)
    add_neighbours(own, other, None, nodes, scores, np.zeros((len(own), 3), np.int64))
    sides = [[side[i].tolist() for i in range(len(side))] for side in (own, other)]

    def bits(side, x, y):
        one, two, three = (grams_of(side, size) for size in (1, 2, 3))

        def alone(b):
            return (one[b,] + 0.5) / (one.total() + 1)

        def after(b, a):
            return (two[a, b] + 2 * alone(b)) / (one[a,] + 2)

        def after_both(c, a, b):
            return (three[a, b, c] + 2 * after(c, b)) / (two[a, b] + 2)

        first = (after_both(y[0], x[-2], x[-1]) if len(x) > 1 else after(y[0], x[-1])) / alone(y[0])
        second = after_both(y[1], x[-1], y[0]) / after(y[1], y[0]) if len(y) > 1 else 1.0
        return math.log2(first), math.log2(second)

    met = grams_of(sides[0], 2)
    for p, text in enumerate(sides[0]):
        expected = []
        for q, following in enumerate(sides[0]):
            alike = sum(t[0] == following[0] for t in sides[0])
            first, second = bits(sides[0], text, following)
            first -= math.log2(alike)
            if q != p and met[text[-1], following[0]] and first > 0 and first + second > 0:
                expected.append(first + second + sum(bits(sides[1], sides[1][p], sides[1][q])))
        best = sorted(expected, reverse=True)[:3]
        assert scores[p][: len(best)].tolist() == pytest.approx(best)
        assert (nodes[p] >= 0).sum() == len(best)


def test_text_that_was_cut_apart_is_put_together_by_what_the_public_writes():
    """No word stands in two fragments; whoever knows the language needs none, and the greedy assembly finds nothing."""
    sentence, numbers = list("abcdefghijkl"), Numbers()
    pieces = [sentence[i : i + 3] for i in (6, 0, 9, 3)]
    own = numbers.of(pieces)
    public = [numbers.of([sentence[i : i + 4]]) for i in range(9)]
    texts = Sentences(
        np.concatenate([text.words for text in public]),
        np.concatenate([[0], np.cumsum([len(t.words) for t in public])]),
    )
    truth = numbers.of([sentence])
    counts = np.ones(len(own), np.int64)
    assert tokens_recovered(assemble(own, own, counts, (texts, texts)), truth).share == 1.0
    assert tokens_recovered(assemble(own, own, counts, None), truth).share == 0.0
    assert tokens_recovered(assemble(own, own, counts, (texts, texts), witness=False, beam=0), truth).share == 0.0


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
