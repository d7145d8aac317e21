"""Faults that are easily made in federated averaging are caught; the sound round passes. False alarms: 1e-6 each."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from textveil.accounting.prices import price
from textveil.noise import seeded
from textveil.testing import BrokenLaw, Worlds, check_mechanism
from textveil.testing.laws_of_promises import PROMISE


def _neighbour(name: str):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


broken = _neighbour("broken_federated")
TRIES = 8_000
LONG, SHORT = (50.0, 40), (50.0, 1)  # an update and its examples
ADDED = (Worlds([], [LONG]),)
EXEMPT = {"every size works": "rounds of fifty thousand units are no small example"}


def check(kind, worlds):
    sample = [SHORT, SHORT, SHORT, SHORT]
    return check_mechanism(kind(), sample, worlds=worlds, tries=TRIES, exempt=EXEMPT)


@pytest.mark.parametrize(
    ("name", "worlds"), [("SoundRound", ADDED), ("SoundFixedRound", (Worlds([SHORT, SHORT], [SHORT, (-50.0, 1)]),))]
)
def test_the_sound_round_passes(name, worlds):
    assert PROMISE in check(getattr(broken, name), worlds).held


@pytest.mark.parametrize("name", ["WeightsByExamples", "NoiseOfEachClient"])
def test_the_fault_is_caught(name):
    with pytest.raises(BrokenLaw) as caught:
        check(getattr(broken, name), ADDED)
    assert caught.value.law == PROMISE


def someone_is_drawn_twice(kind) -> bool:
    """Whether a unit is ever drawn twice in a round, in 200 rounds. Four draws of four with replacement: 1 - (24/256)^200."""
    mechanism, source = kind(), seeded(5)
    plan = mechanism.plan()
    rounds = [mechanism.units(plan, source, plan.users) for _ in range(200)]
    return any(len(set(units)) < len(units) for units in rounds)


def test_drawing_with_replacement_is_caught():
    assert someone_is_drawn_twice(broken.DrawnWithReplacement)
    assert not someone_is_drawn_twice(broken.SoundFixedRound)


def test_drawing_with_replacement_costs_more_than_is_priced():
    """Exactly: with everybody else at +C and one unit at -C instead, a unit drawn k times moves the sum by 2 k C."""
    plan = broken.DrawnWithReplacement().plan()
    delta = 0.01
    epsilon = price(plan.event(), delta=delta).epsilon
    assert hockey_stick({1: 1.0}, plan, epsilon) == pytest.approx(delta, rel=1e-3)
    times = {k: math.comb(4, k) * 0.25**k * 0.75 ** (4 - k) for k in range(5)}
    assert hockey_stick(times, plan, epsilon) > 3 * delta


def hockey_stick(times: dict[int, float], plan, epsilon: float) -> float:
    """The delta between the two worlds at epsilon, by integration; `times`: chances of how often the unit is drawn."""
    grid = np.linspace(-40, 40, 400_001)
    other = sum(chance * norm.pdf(grid, -2 * k, plan.noise) for k, chance in times.items())
    gap = other - math.exp(epsilon) * norm.pdf(grid, 0, plan.noise)
    return float(np.clip(gap, 0, None).sum() * (grid[1] - grid[0]))
