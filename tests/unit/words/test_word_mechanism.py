"""What all word mechanisms share: policies, layout, pipeline manners."""

from __future__ import annotations

import numpy as np
import pytest

import textveil as tv
from textveil.core import BadInput, BadParameter, UnknownName
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
    out = still(cls, keep=["it", "is"], case="keep").transform([text])
    assert out == [text]


def test_length_layout_and_vocabulary(mechanism):
    text = "cold (warm) hot!  xyzzy 42"
    out = mechanism.transform([text] * 50)
    for t in out:
        pieces = tv.text.tokens.split(t)[0]
        assert pieces[::2] == tv.text.tokens.split(text)[0][::2]
        assert {word.lower() for word in pieces[1::2]} <= set(WORDS)


def test_unknown_words_never_pass(mechanism):
    out = mechanism.transform(["xyzzy plugh 🙂 1234"] * 200)
    assert not any(w in t for t in out for w in ("xyzzy", "plugh", "🙂", "1234"))


def test_unknown_word_as_token_is_listed():
    m = tv.words.Laplace(epsilon=1000, oov="token").fit(small_vectors())
    assert m.transform(["Cold xyzzy"]) == ["Cold UNK"]
    assert any("outside is not protected" in a for a in m.event().assumes)


def test_kept_words_pass_and_are_listed():
    m = tv.words.BRR(epsilon=0.01, keep=["Cold"]).fit(small_vectors())
    for text in ("cold hot", "COLD hot"):  # written as listed: the text's own capitals do not pass
        assert all(t.startswith("Cold ") for t in m.transform([text] * 50))
    assert any("1 kept words pass unchanged" in a for a in m.event().assumes)
    assert "kept words (cold), and that all other words are none of them" in m.passes()


def test_capitals_stand_where_a_sentence_begins():
    text = "COLD Warm hOt. warm? HOT! (cold) hot.hot cold... Hot"
    expected = {
        "sentence": "Cold warm hot. Warm? Hot! (Cold) hot.hot cold... Hot",
        "drop": "cold warm hot. warm? hot! (cold) hot.hot cold... hot",
        "keep": "COLD Warm hot. warm? HOT! (cold) hot.hot cold... Hot",
    }
    for case, words in expected.items():
        mechanism = still(tv.words.Laplace, case=case)
        assert mechanism.transform([text]) == [words], case


@pytest.mark.parametrize("case", ["sentence", "drop"])
@pytest.mark.parametrize("cls", MECHANISMS, ids=lambda m: m.name)
def test_texts_that_differ_in_letter_case_have_the_same_outputs(cls, case):
    """The law behind `case`: with the same draws, the same output, whatever is kept or unknown."""
    texts = ["May it's HIV. i don't know, Cold!", "hot. WARM? xyzzy 🙂 ΟΔΟΣ élan"]
    mechanism = cls(epsilon=0.5, case=case, keep=["It", "know"]).fit(small_vectors())
    outputs = [
        mechanism.apply([change(text) for text in texts], noise=seeded(11))
        for change in (str, str.lower, str.upper, str.swapcase, str.title)
    ]
    assert all(out == outputs[0] for out in outputs)


def test_letter_case_that_passes_is_named():
    for case in ("sentence", "drop", "keep"):
        m = tv.words.BRR(case=case).fit(small_vectors())
        assert any("letter case" in named for named in m.passes()) == (case == "keep")
        assert any("and letter case" in named for named in m.event().assumes) == (case == "keep")
        assert any("currency and mathematical signs" in named for named in m.passes())
        assert any("same number of words" in named for named in m.event().assumes)
    token = tv.words.BRR(oov="token").fit(small_vectors())
    assert any("outside the vocabulary" in named for named in token.passes())


def test_only_separators_pass():
    """What `passes` says of signs: they stay, digits and letters of every kind do not."""
    text = "€ 5 + ½ = x ∑ $ % & @ ^ ` § 7"
    out = tv.words.BRR(epsilon=0.01, case="drop").fit(small_vectors()).transform([text])[0]
    assert all(sign in out for sign in "€+=∑$%&@^`")
    assert not any(char in out for char in "57½x")


def test_a_phrase_of_the_vocabulary_is_written_as_one_word():
    words = from_arrays(["new york", "cold"], [[-1.0], [1.0]])
    out = tv.words.Laplace(epsilon=1e-6, case="drop").fit(words).transform(["cold"] * 99)
    assert set(out) == {"new_york", "cold"}


def test_neighbouring_slots_do_not_grow_together():
    m = tv.words.Exponential(epsilon=1e-9).fit(small_vectors())
    text = "it's warm, isn't it🙂"
    count = len(tv.text.tokens.words(text))
    assert {len(tv.text.tokens.words(t)) for t in m.transform([text] * 300)} == {count}


def test_seeded_is_a_draft_and_repeats(mechanism):
    m = type(mechanism)(seed=3).fit(small_vectors())
    assert m.transform(["cold hot warm"] * 9) == m.transform(["cold hot warm"] * 9)
    assert m.event() == type(mechanism)().fit(small_vectors()).event()  # what a seed means is decided elsewhere
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


# ---- fitted once, promised rightly -------------------------------------------------------------------------------


CHANGES = [
    (tv.words.Mahalanobis, {"lam": 0.9}),
    (tv.words.BRR, {"keep": ["cold"]}),
    (tv.words.Exponential, {"distance": "angular"}),
    (tv.words.Laplace, {"epsilon": 3.0}),
    (tv.words.Vickrey, {"t": 0.1}),
    (tv.words.TEM, {"gamma": 0.5}),
]


@pytest.mark.parametrize(("cls", "change"), CHANGES, ids=lambda value: getattr(value, "name", None))
def test_a_parameter_set_after_fit_is_in_promise_and_noise(cls, change):
    changed = cls(seed=5).fit(small_vectors()).set_params(**change)
    fresh = cls(seed=5, **change).fit(small_vectors())
    assert (changed.metric_id(), changed.diameter(), changed.event()) == (
        fresh.metric_id(),
        fresh.diameter(),
        fresh.event(),
    )
    assert changed.transform(["cold hot warm"] * 50) == fresh.transform(["cold hot warm"] * 50)


def test_other_vectors_set_after_fit_are_taken():
    other = from_arrays(["up", "down"], [[-1.0], [1.0]])
    m = tv.words.Laplace().fit(small_vectors()).set_params(vectors=other)
    assert m.metric_id() == other.fingerprint


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        (tv.words.Mahalanobis, "lam", 0.9),
        (tv.words.BRR, "bits", 64),
        (tv.words.Exponential, "distance", "angular"),
        (tv.words.TEM, "keep", ["cold"]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_parameter_changed_behind_fits_back_is_refused(cls, name, value):
    m = cls().fit(small_vectors())
    setattr(m, name, value)
    for use in (m.event, lambda: m.apply(["cold"], noise=seeded(1))):
        with pytest.raises(BadInput, match=f"{name} was changed after fit"):
            use()


@pytest.mark.parametrize("cls", [tv.words.Laplace, tv.words.Mahalanobis, tv.words.Vickrey], ids=lambda m: m.name)
def test_an_epsilon_whose_noise_the_search_cannot_hold_is_refused_by_fit(cls):
    with pytest.raises(BadParameter, match=r"epsilon must be .* or more for vectors of this size"):
        cls(epsilon=1e-14).fit(small_vectors())
    vectors = small_vectors()
    least = 1.01 * 53 * np.log(2) * 2 * 2 / 1e15
    assert len(cls(epsilon=least).fit(vectors).transform(["cold hot"] * 200)) == 200


def test_a_bad_seed_is_refused_by_fit(mechanism):
    with pytest.raises(BadParameter, match="seed must be a whole number of 0 or more, or None"):
        type(mechanism)(seed=-1).fit(small_vectors())
