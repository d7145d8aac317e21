"""Each distinct word of a text drawn once: the law of whole texts, by enumeration of all draws through the real code."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

import textveil as tv
from textveil.accounting.ledger import Ledger
from textveil.core import BadParameter, BudgetExceeded, Unit
from textveil.noise import secure, seeded
from textveil.text.codes import Codes
from textveil.text.vectors import from_arrays
from textveil.words.transition.matrix import by_enumeration

WORDS = ["ant", "bee", "cat", "dog"]


def square():
    """Four words on the corners of a square: all codes of two bits, so that the bound of randomized response is attained."""
    vectors = from_arrays(WORDS, [[0.0, 0.1], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return vectors.with_codes(Codes.from_packed(vectors.words, np.arange(4, dtype=np.uint64)[:, None], 2))


def brr(epsilon=0.7, **parameters):
    return tv.words.BRR(epsilon=epsilon, case="drop", **parameters).fit(square())


def law(mechanism, text: str) -> dict[str, float]:
    """The chance of every output of a text: all results of all draws, each through `apply`."""
    odds = np.exp(by_enumeration(mechanism).log_odds)
    asked: list[np.ndarray] = []
    mechanism.draw = lambda rows, noise: asked.append(np.array(rows)) or np.zeros(len(rows), dtype=np.int32)
    mechanism.apply([text], noise=None)
    chances: dict[str, float] = defaultdict(float)
    for drawn in itertools.product(range(len(WORDS)), repeat=len(asked[0])):
        mechanism.draw = lambda rows, noise, drawn=drawn: np.array(drawn)
        (out,) = mechanism.apply([text], noise=None)
        chances[out] += math.prod(odds[row, y] for row, y in zip(asked[0], drawn, strict=True))
    del mechanism.draw
    assert math.fsum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    return chances


def worst(one: dict[str, float], other: dict[str, float]) -> float:
    """The largest log ratio of the two laws, whichever stands above."""
    ratios = [
        math.inf if min(one.get(y, 0.0), other.get(y, 0.0)) == 0.0 else abs(math.log(one[y] / other[y]))
        for y in one.keys() | other.keys()
    ]
    return max(ratios)


@pytest.mark.parametrize("other, steps", [("bee", 1), ("dog", 2)])
def test_a_word_replaced_at_all_its_places_costs_epsilon_times_the_distance(other, steps):
    text = "ant cat ant, cat; ant"
    neighbour = text.replace("ant", other)
    assert worst(law(brr(once=True), text), law(brr(once=True), neighbour)) == pytest.approx(0.7 * steps, abs=1e-9)
    # drawn at every place by itself the same change costs three times as much
    assert worst(law(brr(), text), law(brr(), neighbour)) == pytest.approx(3 * 0.7 * steps, abs=1e-9)


@pytest.mark.parametrize(
    "text, other",
    [
        ("ant bee ant", "ant bee dog"),
        ("ant bee", "ant ant"),
        ("ant ant bee bee", "ant bee ant bee"),
        ("ant", "ant ant"),
    ],
)
def test_texts_with_equal_words_at_other_places_have_no_bound(text, other):
    assert worst(law(brr(once=True), text), law(brr(once=True), other)) == math.inf


def test_several_words_replaced_add_up():
    one, other = law(brr(once=True), "ant bee ant bee"), law(brr(once=True), "dog cat dog cat")
    assert worst(one, other) == pytest.approx(0.7 * (2 + 2), abs=1e-9)


def test_words_outside_the_vocabulary_are_told_apart_by_how_they_are_written():
    """Equal forms are one draw, others draws of their own, all from one point: which of them it is makes no difference."""
    texts = ["xyz ant XYZ uvw", "qrs ant qrs pq"]
    one, other = (law(brr(once=True), text) for text in texts)
    assert worst(one, other) == pytest.approx(0.0, abs=1e-12)
    assert all(out.split()[0] == out.split()[2] for out in one)
    assert any(out.split()[0] != out.split()[3] for out in one)


@pytest.mark.parametrize("cls", [tv.words.Laplace, tv.words.Vickrey, tv.words.Exponential, tv.words.TEM, tv.words.BRR])
def test_equal_words_of_a_text_come_out_equal_and_texts_draw_by_themselves(cls):
    mechanism = cls(epsilon=0.01, once=True, case="keep").fit(square())
    outputs = mechanism.transform(["Ant bee, ANT ant zzz Zzz"] * 200)
    for out in outputs:
        first, _, second, third, fourth, fifth = out.lower().replace(",", "").split()
        assert first == second == third
        assert fourth == fifth
    assert len({out.split()[0] for out in outputs}) > 1


def test_kept_words_and_tokens_are_as_ever():
    mechanism = tv.words.BRR(epsilon=0.01, once=True, keep=["ant"], oov="token", case="drop").fit(square())
    for out in mechanism.transform(["ant zzz bee ant zzz bee"] * 50):
        words = out.split()
        assert words[:2] == words[3:5] == ["ant", "UNK"]
        assert words[2] == words[5]


@pytest.mark.parametrize("case", ["sentence", "drop"])
def test_letter_case_does_not_pass(case):
    mechanism = tv.words.BRR(epsilon=0.5, once=True, case=case).fit(square())
    texts = ["Ant bee zzz ANT. Zzz bee", "Dog dog"]
    outputs = [mechanism.apply([f(t) for t in texts], noise=seeded(3)) for f in (str, str.lower, str.upper)]
    assert outputs[0] == outputs[1] == outputs[2]


def test_the_promise_says_what_it_is_about():
    guarantee = brr(once=True).guarantee_
    assert guarantee.unit is Unit.DOCUMENT_TERM and guarantee.loss == brr().guarantee_.loss
    assert any("equal words at the same places" in line for line in guarantee.assumes)
    said = guarantee.explain()
    assert "at all the places where it stands there" in said
    assert "documents that differ in that have no bound" in said and "each document draws it anew" in said
    assert any(name.startswith("which places of a text hold equal words") for name in brr(once=True).passes())
    assert not any("equal words" in name for name in brr().passes())
    assert brr(once=True).public_params()["once"] is True
    with pytest.raises(BadParameter, match="once must be True or False"):
        brr(once=1)


def test_nothing_of_it_counts_for_single_words(tmp_path):
    event, single = brr(once=True).event(), brr().event()
    ledger = Ledger.new(tmp_path / "a.ledger", unit="word", metric="hamming", epsilon=1)
    with pytest.raises(BudgetExceeded, match=r"no budget for this release \(unit: document_term, metric: hamming\)"):
        ledger.charge(event)
    ledger.allow(unit="document_term", metric="hamming", epsilon=1)
    ledger.charge(event)
    ledger.charge(single)
    assert {b["unit"]: b["spent"] for b in ledger.state()["budgets"]} == {"word": 0.7, "document_term": 0.7}
    assert {str(t.unit): t.loss.epsilon for t in ledger.total()} == {"word": 0.7, "document_term": 0.7}
    with pytest.raises(BudgetExceeded, match=r"unit: document_term"):
        ledger.charge(event)
    said = " ".join(ledger.state()["unconverted"])
    assert "charges per document_term (metric hamming) also bear on each word" in said
    assert "charges per word (metric hamming) also bear on each document_term" in said


def test_a_seeded_source_repeats_and_a_secure_one_does_not():
    mechanism = tv.words.BRR(epsilon=0.01, once=True).fit(square())
    text = [" ".join(f"w{i}" for i in range(60))]
    assert mechanism.apply(text, noise=seeded(5)) == mechanism.apply(text, noise=seeded(5))
    assert mechanism.apply(text, noise=secure()) != mechanism.apply(text, noise=secure())
