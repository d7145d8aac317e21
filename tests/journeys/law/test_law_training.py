"""The same law over the journeys that train; torch gets one thread, since OpenMP does not survive a fork."""

from __future__ import annotations

import os

import pytest
import torch
from journeys.law import law
from journeys.law.table import JOURNEYS
from journeys.law.test_law import places_of

NETS = [name for name, journey in JOURNEYS.items() if journey.needs_torch]
KILLS = 12  # places of each journey, from the first to the last


@pytest.fixture(autouse=True)
def one_thread(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    threads, here = torch.get_num_threads(), os.getcwd()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    os.chdir(here)


@pytest.mark.parametrize("name", NETS)
def test_charged_before_noise(name, tmp_path):
    assert law.drawn_before_charge(JOURNEYS[name], tmp_path / "run") == []


@pytest.mark.parametrize("name", NETS)
def test_killed_anywhere_the_law_holds(name, tmp_path):
    ready, faults = tmp_path / "ready", {}
    for place in places_of(name, ready, JOURNEYS[name].kills or KILLS):
        if wrong := law.after_a_kill(JOURNEYS[name], ready, tmp_path / "scratch", place):
            faults[place] = wrong
    assert faults == {}


@pytest.mark.parametrize("name", NETS)
def test_a_seed_makes_a_draft_and_is_nowhere(name, tmp_path):
    assert law.seeded(JOURNEYS[name], tmp_path / "run") == []


@pytest.mark.parametrize("name", NETS)
def test_another_data_set_is_refused(name, tmp_path):
    assert law.other_data(JOURNEYS[name], tmp_path / "run") == []


@pytest.mark.parametrize("name", NETS)
def test_nothing_secret_stands_anywhere(name, tmp_path):
    folder = tmp_path / "run"
    assert law.secrets_outside(JOURNEYS[name], folder) == []
    assert law.names_in_out(folder) == []
