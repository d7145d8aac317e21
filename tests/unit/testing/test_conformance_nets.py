"""The same for what needs torch: every name that test_conformance.py leaves out. False alarms: 1e-6 for each name."""

from __future__ import annotations

import time

import pytest
from unit.testing.test_conformance import NETS, SECONDS

from textveil.core import registry
from textveil.testing import check_registered

WITHOUT_NOISE = {"federated.central", "federated.fedavg", "federated.fedsgd", "federated.remote"}  # nothing is promised
MECHANISMS = sorted(NETS & set(registry.names("mechanism")))
ATTACKS = sorted(NETS & set(registry.names("attack")))


def test_every_name_that_is_left_out_there_is_one_of_these():
    assert {*MECHANISMS, *ATTACKS} == NETS


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_private_model_keeps_the_laws(name):
    pytest.importorskip("torch")
    start = time.process_time()
    checked = check_registered("mechanism", name)
    assert "the charge comes before the noise" in checked.held
    if name not in WITHOUT_NOISE:
        assert "noise comes from the given source" in checked.held
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_models_keeps_the_laws(name):
    pytest.importorskip("torch")
    start = time.process_time()
    check_registered("attack", name)
    assert time.process_time() - start < SECONDS
