"""The forecast of use: the law, and what it says of public collections."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.noise import seeded
from textveil.recipes.use.channel import Channel, channel_of, content_prior, drawn_prior
from textveil.recipes.use.forecast import Curve, Table, forecast_at, table
from textveil.text.vectors import from_arrays
from textveil.words import Exponential

RISING = Curve((10.0, 100.0, 1_000.0), (0.5, 0.7, 0.9), 0.5)
KNOWN = Table(intercept=0.0, stay=1.0, alike=0.0, documents=1.0, spread=0.5, curves={"a": RISING, "b": RISING})


def test_a_curve_is_straight_in_the_logarithm_and_ends_where_it_ends():
    assert RISING.gain(100) == pytest.approx(0.2) and RISING.gain(math.sqrt(10) * 10) == pytest.approx(0.1)
    assert RISING.gain(10**6) == pytest.approx(0.4) and RISING.gain(1) == 0.0
    assert Curve((10.0, 100.0), (0.4, 0.3), 0.5).gain(100) == 0.0  # never below chance, never falling


def test_documents_for_inverts_a_curve():
    for documents in (20, 100, 700):
        assert RISING.documents_for(0.5 + RISING.gain(documents)) == pytest.approx(documents)


def test_worth_follows_the_law_and_never_exceeds_the_documents():
    assert KNOWN.worth(Channel(0.1, 0.3), 1_000) == pytest.approx(100)
    assert Table(9.0, 1.0, 0.0, 1.0, 0.5, {}).worth(Channel(0.5, 0.5), 1_000) == 1_000


def test_the_share_kept_is_read_off_the_curves():
    found = forecast_at(Channel(0.1, 0.3), 1_000, KNOWN)
    assert found.worth == pytest.approx(100) and found.kept == pytest.approx(0.5)
    assert found.kept_range == pytest.approx((0.5, 0.5))
    assert found.worth_range[0] == pytest.approx(100 / math.exp(1.645 * 0.5))
    assert not found.is_poor and forecast_at(Channel(0.02, 0.1), 1_000, KNOWN).is_poor
    beyond = forecast_at(Channel(0.1, 0.3), 10_000, KNOWN)  # above the end of the curves the ratio decides
    assert beyond.kept == pytest.approx(found.kept)


def test_the_shipped_table_gives_more_for_more_and_less_for_less():
    kept = [forecast_at(Channel(stay, alike), 5_000).kept for stay, alike in ((0.02, 0.18), (0.1, 0.3), (0.5, 0.65))]
    worth = [forecast_at(Channel(0.2, 0.4), documents).worth for documents in (500, 5_000, 50_000)]
    assert kept == sorted(kept) and worth == sorted(worth)
    assert 0 <= kept[0] < kept[-1] <= 1 and len(table().curves) >= 5
    assert not {"complaints", "reviews"} & set(table().curves)  # they are what it is tested on


def test_channel_looks_at_words_that_are_drawn_and_not_frequent():
    words = from_arrays(
        [f"w{i}" for i in range(200)], np.random.default_rng(0).normal(size=(200, 4)), prior=range(200, 0, -1)
    )
    made = Exponential(epsilon=60.0, keep=["w199"]).fit(words)
    assert drawn_prior(made)[199] == 0 and content_prior(made)[:150].sum() == 0
    sure = channel_of(made, seeded(0), 500)
    assert sure.stay > 0.99 and sure.alike > 0.99
    assert channel_of(Exponential(epsilon=0.001).fit(words), seeded(0), 500).stay < 0.05
