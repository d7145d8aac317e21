"""How near words are to each other: by hand on a line, and without any draw."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.recipes.words.near import near_words
from textveil.text.vectors import from_arrays
from textveil.words import BRR, Exponential, Laplace, Mahalanobis
from textveil.words.transition.metric import all_distances, nearest_distances

LINE = from_arrays(["a", "b", "c", "d"], [[0.0, 1.0], [1.0, 1.0], [5.0, 1.0], [9.0, 1.0]], prior=[0.4, 0.3, 0.2, 0.1])


def test_the_middle_word_and_the_share_within_reach():
    found = near_words(
        Laplace(epsilon=2.0).fit(LINE)
    )  # the reach is ln 19 / 2 = 1.47: a and b, which are seven of ten words
    assert (found.nearest, found.share) == (pytest.approx(1.0), pytest.approx(0.7, abs=0.01))
    wide = near_words(Laplace(epsilon=0.5).fit(LINE))  # 5.9
    assert wide.share == 1.0
    assert near_words(Laplace(epsilon=2.0).fit(LINE)) == found


@pytest.mark.parametrize("made", [Laplace(), Mahalanobis(), Exponential(distance="angular"), BRR(bits=64)])
def test_the_nearest_word_in_every_metric(made):
    rng = np.random.default_rng(4)
    mechanism = made.fit(from_arrays([f"w{n}" for n in range(30)], rng.normal(size=(30, 70))))
    apart = all_distances(mechanism)[:-1, :-1]
    np.fill_diagonal(apart, np.inf)
    assert nearest_distances(mechanism, np.arange(30)) == pytest.approx(apart.min(axis=1), rel=1e-9)
