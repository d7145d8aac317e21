"""What people see of Textveil: the same names by tab completion, in type checkers and at run time, and nothing else."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import textveil

SOURCE = Path(textveil.__file__).parent
LAZY = sorted(
    path.parent.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("__init__.py")
    if "lazy_names(" in path.read_text(encoding="utf-8")
)
NEED_MORE = ("training", "federated")  # rooms whose names need torch, or Flower
LIGHT = [room for room in LAZY if room not in NEED_MORE]
VERBS_HOME = "verbs"
SHOWN = (
    "words",
    "counts",
    "hashed",
    "training",
    "pii",
    "attacks",
    "text",
    "testing",
    "recipes",
    "core",
    "accounting",
    "noise",
)


def module_of(room: str):
    return textveil if room == "." else importlib.import_module("textveil." + room.replace("/", "."))


def typed_names(room: str) -> dict[str, str]:
    """The names of the TYPE_CHECKING block and the modules they come from, seen from the room."""
    tree = ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    froms = [n for n in block.body if isinstance(n, ast.ImportFrom)]
    named = [n for n in froms if n.names[0].name != "*"]
    assert all(n.level == 1 and a.asname == a.name for n in named for a in n.names)
    stars = [n for n in froms if n not in named]
    assert [n.module for n in stars] == ([VERBS_HOME] if room == "." else [])
    names = {alias.name: n.module or "" for n in named for alias in n.names}
    return names | {name: VERBS_HOME for n in stars for name in stub_names()}


def stub_names() -> list[str]:
    """The functions of verbs.pyi, which type checkers read in the place of verbs.py."""
    tree = ast.parse((SOURCE / "verbs.pyi").read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_room_that_people_use_has_the_table():
    assert {".", *SHOWN} <= set(LAZY)


@pytest.mark.parametrize("room", LAZY)
def test_type_checkers_and_python_see_the_same_names(room):
    public = set(module_of(room).__all__) - {"__version__"}
    assert set(typed_names(room)) == public
    assert dir(module_of(room)) == sorted(module_of(room).__all__)


@pytest.mark.parametrize("room", LIGHT)
def test_every_name_is_the_one_that_type_checkers_read(room):
    package = module_of(room)
    for name, home in typed_names(room).items():
        there = importlib.import_module(f"{package.__name__}.{home or name}")
        assert getattr(package, name) is (getattr(there, name) if home else there)


@pytest.mark.torch
@pytest.mark.parametrize("room", NEED_MORE)
def test_rooms_that_need_more_have_the_names_that_type_checkers_read(room):
    test_every_name_is_the_one_that_type_checkers_read(room)
    test_every_public_class_and_function_says_what_it_is(room)


@pytest.mark.parametrize("room", LAZY)
def test_no_name_is_hidden_by_a_module_of_the_same_name(room):
    """Importing `room.x` binds `x` in the room, and would hide a function x that lives elsewhere."""
    folder = SOURCE / room
    modules = {p.stem for p in folder.glob("*.py")} | {p.parent.name for p in folder.glob("*/__init__.py")}
    assert {name for name, home in typed_names(room).items() if home} & modules == set()


@pytest.mark.parametrize("room", LIGHT)
def test_every_public_class_and_function_says_what_it_is(room):
    package = module_of(room)
    things = {name: getattr(package, name) for name in package.__all__ if name != "__version__"}
    assert [name for name, thing in things.items() if not (inspect.getdoc(thing) or "").strip()] == []


def test_attacks_has_every_registered_attack_and_the_rooms_every_mechanism():
    from textveil.core import registry

    for kind, where in (("attack", textveil.attacks), ("mechanism", None)):
        for target in {"attack": registry.ATTACKS, "mechanism": registry.MECHANISMS}[kind].values():
            module, _, name = target.partition(":")
            room = where or module_of(module.split(".")[1])
            assert name in room.__all__


def test_no_room_of_the_root_shows_what_it_imports():
    rooms = [getattr(textveil, name) for name in textveil.__all__]
    shown = {room.__name__: dir(room) for room in rooms if inspect.ismodule(room) and hasattr(room, "__path__")}
    assert {name: [n for n in names if n in ("annotations", "importlib", "Any")] for name, names in shown.items()} == {
        name: [] for name in shown
    }
