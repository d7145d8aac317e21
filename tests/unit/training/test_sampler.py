"""Samplers: exact chances, public sizes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.noise import secure, seeded
from textveil.noise.subsets import poisson_subset as poisson
from textveil.training.plan import TrainingPlan
from textveil.training.sampler import Sampler


class Words:
    """A source that hands out given words."""

    def __init__(self, words):
        self.given = np.array(words, np.uint64)

    def words(self, n):
        taken, self.given = self.given[:n], self.given[n:]
        return taken


def test_the_chance_is_rounded_down_to_the_last_word():
    third = 2**64 // 3  # words 0 .. third - 1 take part: a chance just below 1/3
    found = poisson(Words([0, third - 1, third, 2**64 - 1]), 4, Fraction(1, 3))
    assert found.tolist() == [0, 1]


def test_poisson_never_asks_how_many_there_are():
    plan = TrainingPlan(noise=1.0, batch=50, examples=100, steps=1)
    sampler = Sampler(plan, 70_000, seeded(1))  # more than declared: still chance 1/2 each
    drawn = sampler.draw(plan.phases[0])
    assert abs(len(drawn) - 35_000) < 5 * np.sqrt(70_000 / 4) + 1  # false alarm below 1e-6
    assert (np.diff(drawn) > 0).all()
    assert len(Sampler(plan, 0, secure()).draw(plan.phases[0])) == 0


def test_rate_one_takes_everybody():
    plan = TrainingPlan(noise=1.0, batch=10, examples=10, steps=1)
    assert Sampler(plan, 10, secure()).draw(plan.phases[0]).tolist() == list(range(10))


def test_fixed_size_is_fixed_and_without_replacement():
    plan = TrainingPlan(noise=1.0, batch=3, examples=5, steps=1, sampling="fixed")
    sampler = Sampler(plan, 5, seeded(2))
    drawn = [tuple(sampler.draw(plan.phases[0])) for _ in range(2000)]
    assert all(len(set(d)) == 3 for d in drawn)
    counts = np.array([drawn.count(d) for d in set(drawn)])
    assert len(counts) == 10 and abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9) + 1  # false alarm below 1e-5 / seeded


def test_fixed_size_needs_the_declared_number():
    with pytest.raises(BadInput, match="exactly the declared 5 examples"):
        Sampler(TrainingPlan(noise=1.0, batch=3, examples=5, steps=1, sampling="fixed"), 6, secure())
