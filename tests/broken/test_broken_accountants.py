"""Every faulty accountant is caught, by the law that its fault breaks; every accountant of ours passes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from textveil.accounting.accountants import PLD, RDP, Best, ClassicRDP, Exact
from textveil.testing.accountants import LAWS, check_accountant, findings


def _load_broken():
    spec = importlib.util.spec_from_file_location(
        "broken_accountants", Path(__file__).with_name("broken_accountants.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


broken = _load_broken()


@pytest.mark.parametrize(("faulty", "law"), broken.BROKEN.items(), ids=lambda value: getattr(value, "__name__", None))
def test_a_faulty_accountant_is_caught(faulty, law):
    assert law in {finding.law for finding in findings(faulty)}


def test_the_error_names_the_law_and_the_numbers():
    with pytest.raises(AssertionError, match=r"n at once cost what n one by one cost: .*GaussianNoise"):
        check_accountant(broken.CountIgnored)


def test_the_sound_base_of_the_faulty_ones_passes():
    assert check_accountant(broken.Quick) == list(LAWS)


OURS = {
    "exact": Exact,
    "pld": lambda: PLD(grid=1e-3),
    "rdp": RDP,
    "rdp-classic": ClassicRDP,
    "best": lambda: Best(grid=1e-3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_our_accountants_pass(name):
    assert findings(OURS[name]) == []
