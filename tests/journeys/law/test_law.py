"""One law over every journey: charged before it draws, whole or not at all, nothing else leaves, nothing is left."""

from __future__ import annotations

import ast
import os
import shutil
from pathlib import Path

import pytest
from journeys.law import law
from journeys.law.faults import count_places
from journeys.law.table import IN_PYTHON, JOURNEYS

import textveil

SOURCE = Path(textveil.__file__).parent
LIGHT = [name for name, journey in JOURNEYS.items() if not journey.needs_torch]
SEEDABLE = [name for name in LIGHT if JOURNEYS[name].seedable]
KILLS_EACH = 40  # places of each journey, spread over all of them: 7 journeys, 280 kills


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Temporary files are made where they are looked for, and the tests come back from wherever a journey went."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    here = os.getcwd()
    yield
    os.chdir(here)


def publishing_functions() -> set[str]:
    """Functions of recipes that open the way out, or have a ledger release something."""
    found = set()
    for path in sorted((SOURCE / "recipes").rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(_publishes(call) for call in ast.walk(node)):
                found.add(f"{module}.{node.name}")
    return found - {"recipes.publish.publish", "recipes.publish.publish_job"}


def _publishes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name in ("publish", "publish_job") or name.endswith("ledger.release")


def test_every_journey_is_listed():
    assert publishing_functions() == {journey.function for journey in JOURNEYS.values()} | IN_PYTHON


@pytest.mark.parametrize("name", LIGHT)
def test_charged_before_noise(name, tmp_path):
    assert law.drawn_before_charge(JOURNEYS[name], tmp_path / "run") == []


def places_of(name: str, ready: Path, most: int = KILLS_EACH) -> list[int]:
    """Places to kill at: all, or as many as are wanted, from the first to the last."""
    law.prepare(JOURNEYS[name], ready)
    scratch = ready.with_name("counted")
    shutil.copytree(ready, scratch)
    os.chdir(scratch)
    count = len(count_places(law._quiet(JOURNEYS[name].arguments()), scratch))
    assert count > 20
    step = max(1, count / most)
    return sorted({int(k * step) for k in range(min(count, most))} | {count - 1})


@pytest.mark.parametrize("name", LIGHT)
def test_killed_anywhere_the_law_holds(name, tmp_path):
    ready = tmp_path / "ready"
    faults = {}
    for place in places_of(name, ready):
        if wrong := law.after_a_kill(JOURNEYS[name], ready, tmp_path / "scratch", place):
            faults[place] = wrong
    assert faults == {}


@pytest.mark.parametrize("name", SEEDABLE)
def test_a_seed_makes_a_draft_and_is_nowhere(name, tmp_path):
    assert law.seeded(JOURNEYS[name], tmp_path / "run") == []


@pytest.mark.parametrize("name", [n for n in LIGHT if JOURNEYS[n].takes_data])
def test_another_data_set_is_refused(name, tmp_path):
    assert law.other_data(JOURNEYS[name], tmp_path / "run") == []


@pytest.mark.parametrize("name", LIGHT)
def test_nothing_secret_stands_anywhere(name, tmp_path):
    folder = tmp_path / "run"
    assert law.secrets_outside(JOURNEYS[name], folder) == []
    assert law.names_in_out(folder) == []


@pytest.mark.parametrize("name", [n for n in LIGHT if JOURNEYS[n].columns])
def test_every_column_that_leaves_is_named(name, tmp_path):
    assert law.unnamed_columns(JOURNEYS[name], tmp_path / "run") == []
