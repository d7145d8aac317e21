"""`textveil audit --attack words.two_worlds`: what is broken is refuted on its card, what is sound is not.

False alarms: a sound mechanism is judged at a level of 1 - 1e-6.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from textveil.attacks.evidence import Evidence
from textveil.core import Guarantee, registry
from textveil.testing.designs import lattice
from textveil.text.vectors import from_arrays

EPSILON = 2.0
TEXT = "a line of words\n"


@pytest.fixture
def vectors(tmp_path) -> str:
    design = lattice(3, EPSILON)
    from_arrays(design.words, design.matrix).save(tmp_path / "lattice.npz")
    return "lattice.npz"


@pytest.fixture
def per_coordinate(monkeypatch) -> str:
    """A mechanism that promises the Euclidean distance with one Laplace draw per coordinate, as a plug-in would bring it."""
    path = Path(__file__).parents[1] / "broken" / "broken_mechanisms.py"
    spec = importlib.util.spec_from_file_location("broken_mechanisms_of_words", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    name = module.LaplacePerCoordinate.name
    monkeypatch.setitem(registry.MECHANISMS, name, f"{spec.name}:LaplacePerCoordinate")
    return name


def veiled_and_audited(textveil, vectors, mechanism, *options):
    Path("in.txt").write_text(TEXT)
    said = textveil("veil", "in.txt", "-o", "out", "--mechanism", mechanism, "--vectors", vectors, *options)
    assert said.code == 0, said.err
    said = textveil("audit", "out", "--attack", "words.two_worlds")
    assert said.code == 0, said.err
    release = json.loads(Path("out/release.json").read_text())
    (found,) = release["evidence"]
    return release, found, Path("out/card.html").read_text(), said.out


@pytest.mark.parametrize("epsilon", [EPSILON, 50.0])
def test_vickrey_as_printed_is_refuted_on_its_card(textveil, vectors, epsilon):
    """One word that came back as another's output is a proof, however large epsilon is."""
    options = ("--epsilon", epsilon, "--paper-mode")
    release, found, card, said = veiled_and_audited(textveil, vectors, "words.vickrey", *options)
    assert release["guarantee"]["label"] == "broken"
    assert found["refuted"] and found["epsilon_floor"] == "inf" and found["false_hits"] == 0
    sentence = "refuted: the claim of its paper does not hold (loss shown: infinite; claimed: "
    assert sentence in found["verdict"] and sentence in said and "words.two_worlds" in card and sentence in card


def test_one_laplace_per_coordinate_is_refuted_on_its_card(textveil, vectors, per_coordinate):
    """The pairs are proposed at random: an audit misses it once in some hundreds, so three more may follow."""
    release, found, card, said = veiled_and_audited(textveil, vectors, per_coordinate, "--epsilon", EPSILON)
    assert release["guarantee"]["label"] == "guarantee"
    for _ in range(3):
        if not found["refuted"]:
            said = textveil("audit", "out", "--attack", "words.two_worlds").out
            (found,) = json.loads(Path("out/release.json").read_text())["evidence"]
            card = Path("out/card.html").read_text()
    assert found["refuted"] and found["epsilon_floor"] > EPSILON * found["distance"]
    assert "refuted: the promise does not hold" in card and "false-alarm rate at most 0.01" in said


@pytest.mark.parametrize("mechanism", ["words.laplace", "words.vickrey", "words.brr", "words.exponential"])
def test_sound_mechanisms_are_not_refuted(textveil, vectors, mechanism):
    release, found, card, _ = veiled_and_audited(textveil, vectors, mechanism, "--epsilon", EPSILON)
    assert not Evidence.from_json(found).refutes(Guarantee.from_json(release["guarantee"]), level=1 - 1e-6)
    assert "words.two_worlds" in card
