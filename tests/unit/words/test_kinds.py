"""Numbers, dates and codes drawn within their kind: whole matrices on small grids, forms, and what is said of them."""

from __future__ import annotations

import itertools
import math
from datetime import date

import numpy as np
import pytest

import textveil as tv
from textveil.accounting.largest_gaps import worst_excess
from textveil.core import BadParameter
from textveil.noise import secure, seeded
from textveil.testing.statistics import assert_chi_square
from textveil.text import tokens
from textveil.text.vectors import from_arrays
from textveil.words.kinds import codes, dates, lattice, numbers
from textveil.words.kinds.recognise import recognise

WORDS = ["cold", "cool", "warm", "hot", "7", "2021"]
TEXT = "Pay 20.50 by 3/14/2021 or 04.03.21, ref AB12: cold 7 times."


def small():
    return from_arrays(WORDS, [[-2.0], [-1.0], [1.0], [2.0], [0.5], [3.0]])


def laplace(**parameters):
    return tv.words.Laplace(epsilon=2.0, kinds=True, **parameters).fit(small())


# ---- laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points, rate", [(2, 0.5), (10, 0.3), (100, 0.05), (7, 3.0)])
def test_the_lattice_keeps_its_promise_on_the_whole_matrix_and_attains_it(points, rate):
    odds = lattice.odds(points, rate)
    place = np.arange(points)
    log, allowed = np.log(odds), rate * abs(place[:, None] - place)
    excess, _ = worst_excess(log, log, allowed)
    assert odds.sum(axis=1) == pytest.approx(np.ones(points), abs=1e-12)
    assert abs(excess) <= 1e-9


def test_lattice_draws_follow_the_matrix():
    """alpha = 1e-6 by a chi-square test."""
    for place in (0, 3):
        counts = np.bincount(lattice.draw(np.full(40_000, place), 8, 0.4, secure()), minlength=8)
        assert_chi_square(counts, lattice.odds(8, 0.4)[place], alpha=1e-6)


def test_numbers_keep_their_promise_for_every_pair_of_one_and_two_digits():
    for digits in (1, 2):
        names = [f"{i:0{digits}d}" for i in range(10**digits)]
        log = np.log(lattice.odds(10**digits, 0.8 * 10 / (10**digits - 1)))
        allowed = 0.8 * np.array([[numbers.distance(a, b) for b in names] for a in names])
        assert worst_excess(log, log, allowed)[0] <= 1e-9
        assert allowed.max() == pytest.approx(0.8 * numbers.DIAMETER)


def test_drawn_numbers_have_that_law_and_even_further_digits():
    """alpha = 1e-6 by a chi-square test each."""
    drawn = numbers.draw(["4"] * 30_000, 0.5, secure())
    assert_chi_square(np.bincount(list(map(int, drawn)), minlength=10), lattice.odds(10, 5 / 9)[4], alpha=1e-6)
    drawn = numbers.draw(["12345"] * 30_000, 50.0, secure())
    assert {len(number) for number in drawn} == {5}
    assert_chi_square(np.bincount([int(n[-1]) for n in drawn], minlength=10), np.full(10, 0.1), alpha=1e-6)


def test_codes_keep_their_promise_on_the_whole_matrix():
    """Two characters, one of each class, at chances from the code's own rule: 260 codes, every pair."""
    epsilon = 0.9
    names = [a + b for a, b in itertools.product(codes.LETTERS, codes.DIGITS)]

    def character(size):
        stay = 1 / (1 + (size - 1) * math.exp(-epsilon))
        return np.where(np.eye(size, dtype=bool), stay, (1 - stay) / (size - 1))

    log = np.log(np.kron(character(26), character(10)))
    allowed = epsilon * np.array([[codes.distance(a, b) for b in names] for a in names])
    assert abs(worst_excess(log, log, allowed)[0]) <= 1e-9
    counts = dict.fromkeys(names, 0)
    for code in codes.draw(["c5"] * 60_000, epsilon, secure()):
        counts[code] += 1
    law = np.exp(log[names.index("c5")])
    assert_chi_square(np.array(list(counts.values())), law, alpha=1e-6)


def test_dates_keep_their_promise_and_their_form():
    points = dates.DateForm("dmy", 2, True).points
    assert points == 36_525 and dates.DateForm("dmy", 4, True).points == 73_049
    drawn = dates.draw([(dates.DateForm("mdy", 4, False), 40_000)] * 2_000, 1.0, secure())
    shifts = [(date(int(y), int(m), int(d)) - dates.FIRST[4]).days - 40_000 for m, d, y in drawn]
    assert np.median(np.abs(shifts)) == pytest.approx(365 * math.log(2), rel=0.25)  # a geometric law of scale 365 days
    ends = dates.draw([(dates.DateForm("ymd", 4, True), 0)] * 300, 1e-10, secure())
    assert set(ends) == {("1900", "01", "01"), ("2099", "12", "31")}


# ---- forms ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, kinds",
    [
        ("on 2021-03-04.", ["date"]),
        ("on 4.3.2021 at 9", ["date", "number"]),
        ("25/12/2021 and 12/25/21", ["date", "date"]),
        ("31.2.2021", ["number"] * 3),
        ("1850-01-01", ["number"] * 3),
        ("10.1.20.21", ["number"] * 4),
        ("2021-03/04", ["number"] * 3),
        ("v2 covid19 3rd 90s", ["code"] * 4),
        ("cold xyzzy", []),
        ("1234567890123456", []),
        ("a1" * 13, []),
        ("٣٤ ½", []),
        ("1,234", ["number", "number"]),
    ],
)
def test_kinds_are_known_by_their_form(text, kinds):
    assert [found.kind for found in recognise(tokens.split(text)[0])] == kinds


def test_every_kind_comes_out_in_its_form():
    for out in laplace(case="drop").transform([TEXT] * 100):
        words = tokens.words(out)
        assert tokens.split(out)[0][::2] == tokens.split(TEXT)[0][::2]
        assert [len(words[i]) for i in (1, 2)] == [2, 2] and words[1].isdigit() and words[2].isdigit()
        month, day, year = words[4:7]
        assert date(int(year), int(month), int(day)) and len(year) == 4
        assert all(len(part) == 2 and part.isdigit() for part in words[8:11])
        assert codes.form(words[12]) == "aa00" and words[14].isdigit()
        assert words[13] in WORDS and words[0].lower() in WORDS


def test_without_noise_the_text_comes_back():
    mechanism = tv.words.Laplace(epsilon=1e4, kinds=True, kinds_epsilon=1e6, case="keep", keep=["pay", "by", "or"])
    text = "Pay 20.50 by 3/14/2021 or 04.03.21: COLD AB12 Ab1 7"
    assert mechanism.fit(small()).transform([text]) == [text]


def test_letter_case_of_codes_passes_only_where_it_is_said():
    texts = ["ref AB12cd. Ab1 ab1"]
    for case, same in (("sentence", True), ("drop", True), ("keep", False)):
        mechanism = laplace(case=case)
        outputs = [mechanism.apply([f(t) for t in texts], noise=seeded(4)) for f in (str, str.lower, str.upper)]
        assert (outputs[0] == outputs[1] == outputs[2]) is same


def test_kept_words_are_of_no_kind_and_digits_of_the_vocabulary_are():
    mechanism = laplace(keep=["20"], case="drop")
    outputs = [tokens.words(out) for out in mechanism.transform(["20 7 2021"] * 200)]
    assert {words[0] for words in outputs} == {"20"}
    assert all(len(words[1]) == 1 and words[1].isdigit() for words in outputs)  # 7 is a word of the vocabulary, too
    assert len({words[2] for words in outputs}) > 50


def test_once_draws_equal_ones_of_a_text_together():
    mechanism = laplace(once=True, case="drop")
    for out in mechanism.transform(["17 AB12 3/4/2021 17 ab12 3/4/2021 2021"] * 50):
        words = tokens.words(out)
        assert words[:5] == words[5:10]
    outputs = mechanism.transform(["17"] * 60)
    assert len(set(outputs)) > 5  # each text by itself


# ---- what is said --------------------------------------------------------------------------------------------------


def test_metric_and_promise_are_of_their_own():
    plain, kinds = tv.words.BRR().fit().event(), tv.words.BRR(kinds=True).fit().event()
    assert (plain.noise.metric, kinds.noise.metric) == ("hamming", "hamming+kinds")
    assert plain.noise.metric_id != kinds.noise.metric_id
    assert kinds.noise.epsilon == plain.noise.epsilon == 0.5
    other = tv.words.BRR(kinds=True, kinds_epsilon=2.0).fit().event()
    assert other.noise.metric_id != kinds.noise.metric_id  # another ratio is another metric
    same = tv.words.BRR(epsilon=0.25, kinds=True, kinds_epsilon=0.5).fit().event()
    assert same.noise.metric_id == kinds.noise.metric_id  # half of both: half the loss in the same metric
    assert other.noise.diameter == pytest.approx(max(256.0, 4 * dates.DIAMETER))
    said = " ".join(kinds.assumes)
    assert "same kind and form at each place" in said and "365 days" in said and "epsilon 1 " in said
    (named,) = [name for name in tv.words.BRR(kinds=True).fit().passes() if "which words are numbers" in name]
    assert "form" in named
    assert not any("numbers" in name for name in tv.words.BRR().fit().passes())


def test_bad_values_are_named():
    with pytest.raises(BadParameter, match="kinds must be True or False"):
        tv.words.BRR(kinds="yes").fit(small())
    with pytest.raises(BadParameter, match="kinds_epsilon must be a finite number above 0"):
        tv.words.BRR(kinds=True, kinds_epsilon=0).fit(small())
