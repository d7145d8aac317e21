"""What all word mechanisms share: policies, layout, pipeline manners."""

from __future__ import annotations

import numpy as np
import pytest

import textveil as tv
from textveil.core import BadInput, BadParameter, UnknownName, Unpriced
from textveil.noise import seeded
from textveil.text.vectors import from_arrays

MECHANISMS = [
    tv.words.Laplace,
    tv.words.BRR,
    tv.words.Mahalanobis,
    tv.words.Vickrey,
    tv.words.Exponential,
    tv.words.TEM,
]
WORDS = ["cold", "cool", "warm", "hot", "'s", "n't"]


def small_vectors():
    matrix = np.array([[-2.0, 0.3], [-1.0, -0.2], [1.0, 0.1], [2.0, 0.0], [0.2, 3.0], [0.1, -3.0]])
    codes = np.array([[1], [3], [12], [8], [48], [192]], dtype=np.uint64)
    return from_arrays(WORDS, matrix, codes=codes)


@pytest.fixture(params=MECHANISMS, ids=lambda m: m.name)
def mechanism(request):
    return request.param().fit(small_vectors())


def still(cls, **parameters):
    """A mechanism with so little noise that words stay (Vickrey: with t = 0)."""
    if cls is tv.words.Vickrey:
        parameters["t"] = 0
    return cls(epsilon=1e4 if cls is not tv.words.BRR else 200.0, **parameters).fit(small_vectors())


@pytest.mark.parametrize("cls", MECHANISMS, ids=lambda m: m.name)
def test_without_noise_the_text_comes_back_exactly(cls):
    text = "  Cold, HOT... it's\twarm;\nisn't cool?"
    out = still(cls, keep=["it", "is"]).transform([text])
    assert out == [text]


def test_length_layout_and_vocabulary(mechanism):
    text = "cold (warm) hot!  xyzzy 42"
    out = mechanism.transform([text] * 50)
    for t in out:
        pieces = tv.text.tokens.split(t)[0]
        assert pieces[::2] == tv.text.tokens.split(text)[0][::2]
        assert set(pieces[1::2]) <= set(WORDS)


def test_unknown_words_never_pass(mechanism):
    out = mechanism.transform(["xyzzy plugh 🙂 1234"] * 200)
    assert not any(w in t for t in out for w in ("xyzzy", "plugh", "🙂", "1234"))


def test_unknown_word_as_token_is_listed():
    m = tv.words.Laplace(epsilon=1000, oov="token").fit(small_vectors())
    assert m.transform(["Cold xyzzy"]) == ["Cold UNK"]
    assert any("outside is not protected" in a for a in m.event().assumes)


def test_kept_words_pass_and_are_listed():
    m = tv.words.BRR(epsilon=0.01, keep=["Cold"]).fit(small_vectors())
    assert all(t.startswith("cold ") for t in m.transform(["cold hot"] * 50))
    assert any("1 kept words pass unchanged" in a for a in m.event().assumes)


def test_case_follows_or_is_dropped():
    assert still(tv.words.Laplace).transform(["COLD Warm hOt"]) == ["COLD Warm hot"]
    assert still(tv.words.Laplace, case="drop").transform(["COLD Warm"]) == ["cold warm"]


def test_neighbouring_slots_do_not_grow_together():
    m = tv.words.Exponential(epsilon=1e-9).fit(small_vectors())
    text = "it's warm, isn't it🙂"
    count = len(tv.text.tokens.words(text))
    assert {len(tv.text.tokens.words(t)) for t in m.transform([text] * 300)} == {count}


def test_seeded_is_a_draft_and_repeats(mechanism):
    m = type(mechanism)(seed=3).fit(small_vectors())
    assert m.transform(["cold hot warm"] * 9) == m.transform(["cold hot warm"] * 9)
    assert isinstance(m.event().noise, Unpriced)
    assert m.guarantee_.label == "seeded"
    assert mechanism.guarantee_.label == "guarantee"


def test_substitutes_counts_draws(mechanism):
    counts = mechanism.substitutes("cold", draws=500)
    assert sum(counts.values()) == 500 and set(counts) <= set(WORDS)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "1", None, True])
@pytest.mark.parametrize("cls", MECHANISMS, ids=lambda m: m.name)
def test_bad_epsilon_is_named(cls, epsilon):
    with pytest.raises(BadParameter, match="epsilon must be a finite number above 0"):
        cls(epsilon=epsilon).fit(small_vectors())


def test_bad_policies_are_named():
    with pytest.raises(UnknownName, match="there are: draw, token"):
        tv.words.BRR(oov="drop").fit(small_vectors())
    with pytest.raises(BadInput, match="not one text"):
        tv.words.BRR().fit(small_vectors()).transform("one text")
    with pytest.raises(BadInput, match="text 1 is a int"):
        tv.words.BRR().fit(small_vectors()).transform(["fine", 7])


def test_works_in_a_scikit_learn_pipeline():
    from sklearn.base import clone
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(tv.words.BRR(epsilon=4.0), TfidfVectorizer(), LogisticRegression())
    letters = tv.text.sample.letters()
    texts, moods = [r["text"] for r in letters], [r["mood"] for r in letters]
    fitted = clone(pipeline).fit(texts, moods)
    assert set(fitted.predict(texts[:5])) <= set(moods)


def test_parameters_survive_a_round_trip(mechanism):
    again = type(mechanism)(**mechanism.get_params()).fit(small_vectors())
    assert again.event() == mechanism.event()


def test_posterior_peak_bounds_certain_and_blind_channels():
    prior = np.full(6, 1 / 6)
    rows = np.arange(6)
    assert still(tv.words.Laplace).posterior_peak(rows, prior, seeded(0)) == pytest.approx(np.ones(6))
    blind = tv.words.BRR(epsilon=1e-9).fit(small_vectors()).posterior_peak(rows, prior, seeded(0))
    assert blind == pytest.approx(prior, rel=1e-3)
