"""What leaves: lengths, shares, types, tags, decoys, and what a threshold under differential privacy lets through."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("numba")

from textveil.accounting.thresholds import Noising
from textveil.core import BadInput, Shape
from textveil.fragments import Aligner, Fragments
from textveil.fragments.aligner import corpus_of
from textveil.fragments.frequent import COLLISIONS, PhraseCounts
from textveil.fragments.sentences import WordNumbers, side_of
from textveil.fragments.shuffle import Shuffle
from textveil.noise import secure, seeded

PAIRS = [tuple(" ".join(f"{side}{(i * 7 + j) % 40}" for j in range(9)) for side in "st") for i in range(120)]


def closed_aligner():
    words = WordNumbers(), WordNumbers()
    source, target = (side_of([pair[n] for pair in PAIRS]) for n in (0, 1))
    return Aligner(table=16).fit(corpus_of(source, target, words), words).close()


def test_phrases_are_parts_of_one_sentence_pair_and_no_longer_than_said():
    rows = Fragments(longest=3, shortest=2, drop=0, seed=1).transform(PAIRS)
    assert rows
    for source, target in rows:
        assert 2 <= len(source.split()) <= 3
        assert any(f" {source} " in f" {s} " and f" {target} " in f" {t} " for s, t in PAIRS)


def test_half_of_the_occurrences_are_left_out():
    every = len(Fragments(drop=0, seed=1).transform(PAIRS))
    kept = len(Fragments(drop=0.5, seed=2).transform(PAIRS))
    assert abs(kept - every / 2) < 5 * (every / 4) ** 0.5  # binomial, five deviations: false alarm 6e-7


def test_a_dropped_type_leaves_nowhere():
    every = Counter(map(tuple, Fragments(drop=0, seed=1).transform(PAIRS)))
    kept = Counter(map(tuple, Fragments(drop=0.5, drop_by="type", seed=2).transform(PAIRS)))
    assert all(kept[pair] in (0, count) for pair, count in every.items())
    assert 0 < len(kept) < len(every)


def test_the_same_sentence_is_cut_at_the_same_places():
    settings = {"cut": "apart", "drop": 0, "seed": 5, "aligner": closed_aligner()}
    once = Counter(map(tuple, Fragments(**settings).transform([PAIRS[0], *PAIRS[20:40]])))
    many = Counter(map(tuple, Fragments(**settings).transform([*[PAIRS[0]] * 9, *PAIRS[20:40]])))
    extra = many - once  # eight more copies of one sentence, all cut alike
    assert extra
    assert all(count % 8 == 0 for count in extra.values())


def test_tags_and_decoys():
    rows = Fragments(drop=0, tags=True, decoys=0.5, longest=4, seed=1).transform(PAIRS)
    assert all(s.startswith("<P> ") and t.endswith(" </P>") for s, t in rows)
    plain = len(Fragments(drop=0, longest=4, seed=1).transform(PAIRS))
    assert plain < len(rows) <= plain * 1.5 + 1


def test_under_epsilon_rare_phrases_stay_and_frequent_ones_leave():
    secret = ("geheim secretum", "secret word")
    rows = Fragments(epsilon=4.0, delta=1e-5, distinct=20, aligner=closed_aligner(), seed=3).transform(
        [*PAIRS * 20, secret]
    )
    assert rows
    assert not any("geheim" in source for source, _, _ in rows)
    assert all(count >= 1 for _, _, count in rows)


def test_under_epsilon_the_aligner_must_be_public():
    with pytest.raises(BadInput, match="public text"):
        Fragments(epsilon=1.0).transform(PAIRS)


def test_the_event_holds_the_noise_the_threshold_and_collisions():
    parts = Fragments(epsilon=1.0, delta=1e-6).event(Shape()).noise.parts
    assert sum(part.noise.delta for part in parts[1:]) == pytest.approx(0.5e-6 + COLLISIONS, rel=1e-3)


def test_a_sentence_pair_counts_so_many_types_each_once():
    class Loud(Noising):
        @property
        def scale(self):
            return 1e-9

        @property
        def grid(self):
            return 1

        def least(self):
            return 1

    counts = PhraseCounts(Loud("gaussian", 3, 1.0, 1e-6), seeded(1))
    counts.add(np.repeat([0, 1], [10, 2]), np.array([*range(1, 10), 1, 1, 1], np.uint64))
    shown = counts.shown()
    assert sum(round(v) for v in shown.values()) == 3 + 1  # three of nine, and one twice


@pytest.mark.parametrize(
    "settings",
    [{"longest": 0}, {"shortest": 5}, {"drop": 1.0}, {"drop": 1.5}, {"cut": "x"}, {"drop_by": "x"}, {"decoys": -1},
     {"epsilon": -1.0, "aligner": 1}, {"tokens": "x"}, {"epsilon": 1.0, "delta": 1e-12}, {"epsilon": 1.0, "decoys": 0.5}],
)  # fmt: skip
def test_settings_outside_their_range_are_refused(settings):
    with pytest.raises(BadInput):
        Fragments(**settings).fit()


@pytest.mark.parametrize("data", ["text", [("a",)], [("a", 3)], ["ab"]])
def test_what_is_no_pair_of_sentences_is_refused(data):
    with pytest.raises(BadInput):
        Fragments().transform(data)


def test_every_order_comes_with_the_same_chance(tmp_path):
    """All 24 orders of four rows over two files; chi-square at 1e-6: 67 for 23 degrees."""
    seen: Counter[tuple[int, ...]] = Counter()
    for number in range(1200):
        order = Shuffle(tmp_path / "rows", secure(), files=2)
        order.add([0, 1, 2, 3])
        seen[tuple(row for rows in order.groups() for row in rows)] += 1
        del number
    assert len(seen) == 24
    assert sum((count - 50) ** 2 / 50 for count in seen.values()) < 67
