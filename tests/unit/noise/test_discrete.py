"""Whole-number noise: shapes, limits, refusals, and that OpenDP's switch is put back."""

from __future__ import annotations

import os

import numpy as np
import pytest
from opendp import mod

from textveil.core.errors import BadParameter
from textveil.noise import discrete, secure, seeded

LAWS = [discrete.geometric, discrete.discrete_gaussian]
SOURCES = {"secure": secure, "seeded": lambda: seeded(3), "none": lambda: None}


@pytest.fixture(params=LAWS, ids=lambda law: law.__name__)
def law(request):
    return request.param


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]()


@pytest.mark.parametrize("size", [0, 1, 7, (2, 3), (0, 4), ()])
def test_shapes(law, source, size):
    drawn = law(size, 2.0, source)
    assert drawn.shape == (size if isinstance(size, tuple) else (size,))
    assert drawn.dtype == np.int64


def test_hardly_any_noise_at_a_tiny_scale(law, source):
    assert not law(100, 1e-3, source).any()  # one draw is off 0 with less than e^-999


def test_huge_scales_stay_within_the_range(law, source):
    drawn = law(50, 1e30, source)
    assert np.abs(drawn.astype(float)).max() > 1e18
    assert (drawn > 0).any() and (drawn < 0).any()  # false alarm: 2^-49


def test_a_seed_repeats(law):
    assert (law(100, 5.0, seeded(1)) == law(100, 5.0, seeded(1))).all()
    assert (law(100, 5.0, seeded(1)) != law(100, 5.0, seeded(2))).any()


def test_without_a_source_two_calls_differ(law):
    assert (law(100, 1e6) != law(100, 1e6)).any()


@pytest.mark.parametrize("scale", [0, -1.0, float("nan"), float("inf"), True])
def test_other_scales_are_refused(law, source, scale):
    with pytest.raises(BadParameter, match="scale must be"):
        law(3, scale, source)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_switch_of_opendp_is_left_as_it_was(law, enabled, monkeypatch):
    monkeypatch.setattr(mod, "GLOBAL_FEATURES", {"contrib"} if enabled else set())
    law(3, 1.0, secure())
    assert ("contrib" in mod.GLOBAL_FEATURES) is enabled


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_draws_other_noise(law):
    law(10, 1e12)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, law(100, 1e12).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.int64)
    os.waitpid(child, 0)
    assert len(theirs) == 100
    assert len(set(theirs.tolist()) & set(law(100, 1e12).tolist())) < 5
