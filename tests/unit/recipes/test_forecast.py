"""The forecast of use: the law, what it says of public collections, and what it says of an owner's own clear text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.noise import seeded
from textveil.recipes.use.channel import Channel, channel_of, content_prior, drawn_prior
from textveil.recipes.use.forecast import Curve, Table, forecast, forecast_at, forecast_on_text, table
from textveil.text.vectors import from_arrays
from textveil.words import Exponential

RISING = Curve((10.0, 100.0, 1_000.0), (0.5, 0.7, 0.9), 0.5)
KNOWN = Table(intercept=0.0, stay=1.0, alike=0.0, documents=1.0, spread=0.5, curves={"a": RISING, "b": RISING})


def test_a_curve_is_straight_in_the_logarithm_and_ends_where_it_ends():
    assert RISING.gain(100) == pytest.approx(0.2) and RISING.gain(math.sqrt(10) * 10) == pytest.approx(0.1)
    assert RISING.gain(10**6) == pytest.approx(0.4) and RISING.gain(1) == 0.0
    assert Curve((10.0, 100.0), (0.4, 0.3), 0.5).gain(100) == 0.0  # never below chance, never falling


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


def test_on_text_a_setting_that_changes_nothing_foresees_the_clear_accuracy():
    rng = np.random.default_rng(1)
    subjects = {"tea": "tea cup kettle leaf".split(), "rain": "rain cloud storm puddle".split()}
    names = list(subjects) * 100
    texts = [" ".join(rng.choice([*subjects[name], "the", "of"], 6)) for name in names]
    words = from_arrays([w for own in subjects.values() for w in own], rng.normal(size=(8, 3)))
    clear = forecast_on_text(Exponential(epsilon=500.0).fit(words), texts, names, "kind")
    assert clear.task == "classify by kind" and clear.how.endswith("foreseen")
    assert clear.original > 0.95 and clear.chance == 0.5 and clear.sizes == {"train": 160, "test": 40}
    lost = forecast_on_text(Exponential(epsilon=0.001).fit(words), texts, names, "kind")
    assert lost.value < clear.value and forecast(Exponential(epsilon=0.001).fit(words), 200).worth < 160
