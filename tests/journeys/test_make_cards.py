"""The script that makes one card of every kind still works: here on kinds that take moments."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_cards.py"


@pytest.fixture
def make_cards(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("make_cards", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.chdir(tmp_path)
    return script


def test_kinds_that_take_moments(make_cards, tmp_path):
    names = ["brr", "draft", "counts", "sealed", "sound"]
    assert make_cards.make_cards(tmp_path / "out", names) == names
    labels = {n: json.loads((tmp_path / "out" / n / "release.json").read_text())["guarantee"]["label"] for n in names}
    assert labels == {
        "brr": "guarantee", "draft": "seeded", "counts": "guarantee", "sealed": "measured", "sound": "guarantee",
    }  # fmt: skip
    cards = {name: (tmp_path / "out" / name / "card.html").read_text() for name in names}
    assert "DO NOT PUBLISH" in cards["draft"]
    assert all("Before you sign" in card for card in cards.values())
    assert "complaints.csv" in cards["brr"]
    assert "Is the promise refuted?" not in cards["brr"]
