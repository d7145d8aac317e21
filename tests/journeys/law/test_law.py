"""One law over every journey: charged before it draws, whole or not at all, nothing else leaves, nothing is left."""

from __future__ import annotations

import ast
import os
import shutil
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from journeys.law import law
from journeys.law.faults import count_places
from journeys.law.table import IN_PYTHON, JOURNEYS, SERVED

import textveil
from textveil.mpc.client import Answer
from textveil.recipes.mpc import ask

SOURCE = Path(textveil.__file__).parent
LIGHT = [name for name, journey in JOURNEYS.items() if not journey.needs_torch]
SEEDABLE = [name for name in LIGHT if JOURNEYS[name].seedable]
KILLS_EACH = 40  # places of each journey, from the first to the last


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Temporary files are made where they are looked for, and the tests come back from wherever a journey went."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    stand_in_for_a_server(monkeypatch)
    here = os.getcwd()
    yield
    os.chdir(here)


class LocalAnswers:
    """Answers in the place of a server: the law is about what is charged and written, not about who computes."""

    offer: ClassVar = {"version": "v"}

    def __init__(self, *given, **more):
        pass

    def ask(self, x):
        return [Answer(int(row.sum() > 0)) for row in x]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def stand_in_for_a_server(monkeypatch):
    facts = {"version": "v", "labels": ["a", "b"], "inputs": {"kind": "words"}, "shape": {"kernels": []}}
    monkeypatch.setattr(ask, "server_facts", lambda job: facts)
    monkeypatch.setattr(ask, "inputs_like", lambda facts, encoder: LocalInputs)
    monkeypatch.setattr(ask, "ClassifyClient", LocalAnswers)


class LocalInputs:
    """Lengths in the place of vectors."""

    @staticmethod
    def rows(texts, progress):
        return np.array([[len(text) - 40.0] for text in texts], dtype=np.float32)


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
    assert publishing_functions() == {journey.function for journey in JOURNEYS.values()} | IN_PYTHON | SERVED


@pytest.mark.parametrize("name", LIGHT)
def test_charged_before_noise(name, tmp_path):
    assert law.drawn_before_charge(JOURNEYS[name], tmp_path / "run") == []


def places_of(name: str, ready: Path, most: int = KILLS_EACH) -> list[int]:
    """Places to kill at: all, or as many as are wanted, from the first to the last."""
    ready.parent.mkdir(exist_ok=True)
    law.prepare(JOURNEYS[name], ready)
    shutil.copytree(ready, ready.with_name("warmed"))
    os.chdir(ready.with_name("warmed"))
    assert law.command(JOURNEYS[name].arguments())[0] == 0  # a child then finds every import done
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


def test_at_least_200_places_are_killed_at(tmp_path):
    """Each of them kills: for `after_a_kill` a place that is not reached is a fault."""
    places = {name: places_of(name, tmp_path / name.replace(" ", "-") / "ready") for name in LIGHT}
    assert all(len(set(numbers)) >= 40 for numbers in places.values())
    assert sum(map(len, places.values())) >= 200


def test_no_kill_lets_evidence_stand_without_its_line(tmp_path):
    release = tmp_path / "release"
    law.prepare(JOURNEYS["veil"], release)
    assert law.command(JOURNEYS["veil"].arguments())[0] == 0
    shutil.copytree(release, tmp_path / "counted")
    os.chdir(tmp_path / "counted")
    places = count_places(law._quiet(law.publishing("in.jsonl")), tmp_path / "counted")
    assert len(places) >= 15
    faults = {
        place: wrong
        for place in range(len(places))
        if (wrong := law.published_without_a_line(release, tmp_path / "scratch", place, "in.jsonl"))
    }
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
