"""The same for what needs torch. False alarms: 1e-6 for each name."""

from __future__ import annotations

import pytest

from textveil.testing import check_registered


@pytest.mark.parametrize("name", ["training.classifier", "training.lm", "training.tagger"])
def test_a_private_model_keeps_the_laws(name):
    pytest.importorskip("torch")
    checked = check_registered("mechanism", name)
    assert "the charge comes before the noise" in checked.held
    assert "noise comes from the given source" in checked.held


def test_the_shadow_attack_keeps_the_laws():
    pytest.importorskip("torch")
    check_registered("attack", "membership.shadow")
