"""The aligner finds planted translations; symmetrisation and extraction equal what the rules say, written the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from textveil.fragments.aligner import SYMMETRY, Aligner, Links, corpus_of, symmetrise
from textveil.fragments.phrases import extract, segmentation
from textveil.fragments.sentences import WordNumbers, side_of


def fitted(pairs, **settings):
    source, target = (side_of([pair[n] for pair in pairs]) for n in (0, 1))
    words = WordNumbers(), WordNumbers()
    return Aligner(**settings).fit(corpus_of(source, target, words), words), source, target


def test_planted_translations_are_found_in_any_order():
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(400):
        words = rng.permutation(30)[: rng.integers(2, 8)]
        turned = rng.permutation(words) if rng.random() < 0.2 else words
        pairs.append((" ".join(f"s{w}" for w in words), " ".join(f"t{w}" for w in turned)))
    aligner, source, target = fitted(pairs, symmetry="intersection")
    links = aligner.links(source, target)
    pair = np.repeat(np.arange(len(pairs)), np.diff(links.starts))
    said = [source.words[i] for i in source.starts[pair] + links.source]
    meant = [target.words[i] for i in target.starts[pair] + links.target]
    right = sum(a[1:] == b[1:] for a, b in zip(said, meant, strict=True))
    assert right > 0.99 * len(said)
    assert right > 0.9 * len(source.words)  # a fifth of the sentences is out of order, far from the diagonal


def test_a_full_table_learns_less_and_still_links():
    pairs = [(f"a{i} b{i % 7}", f"x{i} y{i % 7}") for i in range(400)]
    aligner, source, target = fitted(pairs, table=10)
    assert (aligner.keys_ != 0).sum() <= 0.75 * 1024 + 1
    assert len(aligner.links(source, target).source) > 0


def test_a_closed_aligner_links_a_pair_by_itself():
    public = [("der Tee", "the tea"), ("der Tag", "the day"), ("Tee trinken", "drink tea")] * 5
    aligner, _, _ = fitted(public)
    aligner.close()
    alone = aligner.links(side_of(["der Tee Xyz"]), side_of(["the tea Xyz"]))
    among = aligner.links(side_of(["der Tag", "der Tee Xyz"]), side_of(["the day", "the tea Xyz"]))
    first = among.starts[1]
    assert among.source[first:].tolist() == alone.source.tolist()
    assert among.target[first:].tolist() == alone.target.tolist()
    assert (2, 2) in set(zip(alone.source.tolist(), alone.target.tolist(), strict=True))  # an unknown word is itself


# ---- oracles ------------------------------------------------------------------------------------------------------------


def slow_symmetry(forward, backward, method):
    """Koehn's description, with sets."""
    first = {(i, j) for j, i in enumerate(forward) if i >= 0}
    second = {(i, j) for i, j in enumerate(backward) if j >= 0}
    if method == "union":
        return first | second
    kept = first & second
    if method == "intersection":
        return kept
    m, n = len(backward), len(forward)
    union, changed = first | second, True
    while changed:
        changed = False
        for i in range(m):
            for j in range(n):
                near = any((i + a, j + b) in kept for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0))
                free = all(x != i for x, _ in kept) or all(y != j for _, y in kept)
                if (i, j) in union - kept and near and free:
                    kept.add((i, j))
                    changed = True
    if method == "grow-diag":
        return kept
    for links in (first, second):
        for i, j in sorted(links):
            open_i, open_j = all(x != i for x, _ in kept), all(y != j for _, y in kept)
            if (open_i and open_j) if method.endswith("and") else (open_i or open_j):
                kept.add((i, j))
    return kept


def slow_extract(m, n, links, most):
    """Every pair of spans, asked whether it is consistent."""
    found = set()
    for s1 in range(m):
        for s2 in range(s1 + 1, min(m, s1 + most) + 1):
            for t1 in range(n):
                for t2 in range(t1 + 1, min(n, t1 + most) + 1):
                    inside = [(i, j) for i, j in links if s1 <= i < s2 and t1 <= j < t2]
                    touching = [(i, j) for i, j in links if s1 <= i < s2 or t1 <= j < t2]
                    if inside and len(inside) == len(touching):
                        found.add((s1, s2, t1, t2))
    return found


@st.composite
def sentences(draw):
    m, n = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    forward = draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n))
    backward = draw(st.lists(st.integers(-1, n - 1), min_size=m, max_size=m))
    return forward, backward


@settings(max_examples=150, deadline=None)
@given(st.lists(sentences(), min_size=1, max_size=3), st.sampled_from(SYMMETRY), st.integers(1, 5))
def test_symmetry_and_extraction_equal_their_oracles(texts, method, most):
    source_starts = np.cumsum([0, *(len(b) for _, b in texts)])
    target_starts = np.cumsum([0, *(len(f) for f, _ in texts)])
    forward = np.array([i for f, _ in texts for i in f], np.int32)
    backward = np.array([j for _, b in texts for j in b], np.int32)
    links = symmetrise(forward, backward, source_starts, target_starts, method)
    spans = extract(source_starts, target_starts, links, most)
    assert len({*map(tuple, spans.tolist())}) == len(spans)
    for place, (f, b) in enumerate(texts):
        own = slice(links.starts[place], links.starts[place + 1])
        expected = slow_symmetry(f, b, method)
        assert set(zip(links.source[own].tolist(), links.target[own].tolist(), strict=True)) == expected
        cut = {tuple(row[1:]) for row in spans.tolist() if row[0] == place}
        assert cut == slow_extract(len(b), len(f), expected, most)


@settings(max_examples=60, deadline=None)
@given(st.lists(sentences(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_phrases_that_stand_apart_share_no_word(texts, random):
    source_starts = np.cumsum([0, *(len(b) for _, b in texts)])
    target_starts = np.cumsum([0, *(len(f) for f, _ in texts)])
    forward = np.array([i for f, _ in texts for i in f], np.int32)
    backward = np.array([j for _, b in texts for j in b], np.int32)
    spans = extract(source_starts, target_starts, symmetrise(forward, backward, source_starts, target_starts, "union"))
    kept = segmentation(spans, np.array([random.random() for _ in spans]))
    for side in (1, 3):
        places = [(row[0], i) for row in spans[kept].tolist() for i in range(row[side], row[side + 1])]
        assert len(set(places)) == len(places)
    for row in spans[~kept].tolist():  # nothing more would fit
        clash = [
            other
            for other in spans[kept].tolist()
            if other[0] == row[0] and any(row[s] < other[s + 1] and other[s] < row[s + 1] for s in (1, 3))
        ]
        assert clash


def test_links_out_of_order_and_words_without_links():
    links = Links(np.array([0, 2], np.int32), np.array([2, 0], np.int32), np.array([0, 2]))
    spans = {tuple(row[1:]) for row in extract(np.array([0, 3]), np.array([0, 3]), links, 3).tolist()}
    assert spans == slow_extract(3, 3, {(0, 2), (2, 0)}, 3)
