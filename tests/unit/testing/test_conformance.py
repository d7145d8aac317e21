"""Everything that is registered keeps the laws, on an example of its own; what has none fails.

False alarms: 1e-6 for each name, on fresh noise in every run. The time limit is generous: it catches an example that is not
small, and no slow machine.
"""

from __future__ import annotations

import time

import pytest

from textveil.core import Estimator, registry
from textveil.core.example import Example
from textveil.testing import BrokenLaw, check_registered
from textveil.testing.conformance import EXAMPLE

NETS = {
    *("training.classifier", "training.lm", "training.tagger", "training.translation", "membership.shadow"),
    *(name for name in registry.names("mechanism") if name.startswith("federated.")),
}  # see test_conformance_nets.py
SECONDS = 120.0


@pytest.mark.parametrize("name", [n for n in registry.names("mechanism") if n not in NETS])
def test_a_registered_mechanism_keeps_the_laws(name):
    start = time.process_time()
    checked = check_registered("mechanism", name)
    assert len(checked.held) >= 6, str(checked)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("name", [n for n in registry.names("attack") if n not in NETS])
def test_a_registered_attack_keeps_the_laws(name):
    start = time.process_time()
    check_registered("attack", name)
    assert time.process_time() - start < SECONDS


def test_word_mechanisms_have_nothing_to_skip():
    for name in ("words.brr", "words.exponential"):
        assert check_registered("mechanism", name).skipped == {}


class Bare(Estimator):
    name = "example.bare"


class Borrowed(Bare):
    @classmethod
    def example(cls) -> Example:
        return Example(Bare(), ["a"])


@pytest.mark.parametrize(("kind", "table"), [("mechanism", registry.MECHANISMS), ("attack", registry.ATTACKS)])
def test_a_name_without_an_example_fails(monkeypatch, kind, table):
    monkeypatch.setitem(table, "example.bare", f"{__name__}:Bare")
    with pytest.raises(BrokenLaw, match="no classmethod `example`") as caught:
        check_registered(kind, "example.bare")
    assert caught.value.law == EXAMPLE


def test_the_example_of_another_name_fails(monkeypatch):
    monkeypatch.setitem(registry.MECHANISMS, "example.borrowed", f"{__name__}:Borrowed")
    with pytest.raises(BrokenLaw, match=r"one of 'example\.bare'"):
        check_registered("mechanism", "example.borrowed")
