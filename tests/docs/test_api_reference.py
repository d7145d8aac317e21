"""docs/api and the types of the verbs say what the docstrings say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_script():
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "scripts" / "api_reference.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = load_script()
NEEDS_TORCH = ("training.md", "federated.md")
CASES = [pytest.param(path, marks=pytest.mark.torch) if path.name in NEEDS_TORCH else path for path in SCRIPT.pages()]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_it_is_up_to_date(path):
    made = SCRIPT.pages()[path]()
    assert path.is_file() and path.read_text(encoding="utf-8") == made, "run: python scripts/api_reference.py"


def test_pages_of_no_room_are_gone():
    assert {path.name for path in SCRIPT.PAGES.iterdir()} == {
        p.name for p in SCRIPT.pages() if p.parent == SCRIPT.PAGES
    }


def test_a_change_would_be_seen(monkeypatch):
    monkeypatch.setattr(SCRIPT.verbs.veil, "__doc__", "Something else.")
    page = SCRIPT.PAGES / "verbs.md"
    assert SCRIPT.pages()[page]() != page.read_text(encoding="utf-8")
