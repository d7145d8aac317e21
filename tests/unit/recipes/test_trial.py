"""A trial on the owner's own text: what is tried, how it grows, and what is foreseen."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.recipes.use import trial
from textveil.recipes.use.forecast import Curve, Table
from textveil.recipes.use.trial import Trial, forecast_on_text, foreseen, own_curve, own_text, try_out
from textveil.text.vectors import from_arrays
from textveil.words import Exponential

RISING = Curve((10.0, 100.0, 1_000.0, 10_000.0), (0.5, 0.6, 0.7, 0.8), 0.5)
SUBJECTS = {"tea": "tea cup kettle leaf".split(), "rain": "rain cloud storm puddle".split()}
GROWING = Table(0.0, 1.0, 0.0, 1.0, 0.5, {}, growth=0.75, error=0.02)


def words_of_subjects():
    return from_arrays([w for own in SUBJECTS.values() for w in own], np.random.default_rng(1).normal(size=(8, 3)))


def labelled(records: int = 200) -> tuple[list[str], list[str]]:
    rng, names = np.random.default_rng(1), list(SUBJECTS) * (records // 2)
    return [" ".join(rng.choice([*SUBJECTS[name], "the", "of"], 6)) for name in names], names


class Watched(Exponential):
    """Remembers what it was given to veil."""

    def apply(self, data, *, noise):
        self.given = [*getattr(self, "given", []), list(data)]
        return super().apply(data, noise=noise)


def test_a_trial_draws_no_more_than_its_share_of_words(monkeypatch):
    texts, names = labelled()
    own = own_text(texts, names, "kind")
    short, long = (Watched(epsilon=500.0).fit(words_of_subjects()) for _ in range(2))
    assert try_out(short, own).learnt == 160 and [len(given) for given in short.given] == [160] * 10
    monkeypatch.setattr(trial, "WORDS", 300)  # as if texts of six words were long
    steps: list[float] = []
    assert try_out(long, own, advance=steps.append).learnt == 40 and sum(steps) == trial.DRAWS
    assert 1 < len({tuple(given) for given in long.given}) == trial.FOLDS < len(long.given) == trial.DRAWS
    assert sum(map(len, long.given)) == 40 * trial.DRAWS and set(long.given[0]) <= set(texts)


def test_each_fold_is_tested_by_as_many_draws():
    assert trial.DRAWS % trial.FOLDS == 0 and trial.DRAWS > trial.FOLDS


def test_worth_grows_as_a_power_of_the_documents():
    tried = Trial(learnt=800, accuracy=0.6)  # as much as 100 clear documents
    assert foreseen(tried, RISING, 800, 0.75) == 0.6
    assert foreseen(tried, RISING, 8_000, 0.75) == pytest.approx(0.5 + RISING.gain(100 * 10**0.75))
    assert foreseen(Trial(800, 0.75), RISING, 1_000, 1.5) == pytest.approx(0.7)  # never worth more than their number


def test_own_curve_stops_where_it_is_told():
    texts, names = labelled()
    own = own_text(texts, names, "kind")
    whole, some = own_curve(own), own_curve(own, most=50)
    assert whole.documents == (15.0, 30.0, 60.0, 120.0, 160.0) and some.documents == (15.0, 30.0, 60.0)
    assert some.accuracy == whole.accuracy[:3] and whole.accuracy[-1] > 0.95 and whole.chance == 0.5


def test_on_text_a_setting_that_changes_nothing_foresees_the_clear_accuracy():
    texts, names = labelled()
    clear = forecast_on_text(Exponential(epsilon=500.0).fit(words_of_subjects()), texts, names, "kind", known=GROWING)
    assert clear.task == "classify by kind" and clear.how.endswith("foreseen")
    assert clear.value > 0.95 and clear.original > 0.95 and clear.chance == 0.5
    assert clear.sizes == {"train": 160, "test": 200, "tried": 160}
    assert clear.interval == pytest.approx((clear.value - 1.645 * 0.02, min(1.0, clear.value + 1.645 * 0.02)))
    lost = forecast_on_text(Exponential(epsilon=0.001).fit(words_of_subjects()), texts, names, "kind", known=GROWING)
    assert 0.3 < lost.value < 0.7


def test_a_trial_looks_at_what_is_left_after_masking():
    texts, names = labelled()
    seen: list[int] = []

    def cut(some):
        seen.append(len(some))
        return ["the" for _ in some]

    sure = Exponential(epsilon=500.0).fit(words_of_subjects())
    masked = forecast_on_text(sure, texts, names, "kind", cut=cut, known=GROWING)
    assert seen == [200] and masked.value == pytest.approx(0.5, abs=0.1)


def test_the_same_trial_comes_out_the_same():
    own = own_text(*labelled(), "kind")
    mechanism = Exponential(epsilon=1.0).fit(words_of_subjects())
    assert try_out(mechanism, own) == try_out(mechanism, own)
