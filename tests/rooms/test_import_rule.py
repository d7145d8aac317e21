"""The import rule of the house, read from the source: every import of every file, late ones inside functions too.

`core <- noise <- accounting`; `core <- text <- nets`; these five <- technique rooms, closed to each other; `core noise text
nets <- attacks`; `core, attacks.evidence <- report`; all of it <- recipes <- reproduce <- web <- cli; `core noise accounting
attacks <- testing`. Names that the registry resolves at run time are no imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from declared import optional_packages

import textveil

SOURCE = Path(textveil.__file__).parent

TECHNIQUES = ("words", "counts", "hashed", "training", "federated", "pii", "fragments", "mpc")
GROUND = ("core", "noise", "accounting", "text", "nets")
_BELOW_RECIPES = (*GROUND, *TECHNIQUES, "attacks", "report")

ALLOWED: dict[str, tuple[str, ...]] = {
    "core": (),
    "noise": ("core",),
    "accounting": ("core", "noise"),
    "text": ("core",),
    "nets": ("core", "text"),
    **dict.fromkeys(TECHNIQUES, GROUND),
    "attacks": ("core", "noise", "text", "nets"),
    "report": ("core", "attacks.evidence"),
    "recipes": _BELOW_RECIPES,
    "reproduce": (*_BELOW_RECIPES, "recipes"),
    "cli": (*_BELOW_RECIPES, "recipes", "reproduce", "web"),  # a verb opens a page
    "web": (*_BELOW_RECIPES, "recipes", "reproduce"),
    "testing": ("core", "noise", "accounting", "attacks"),
}

TORCH_ROOMS = ("nets", "training", "federated", "pii", "fragments", "mpc", "attacks")
TORCH = {"torch", "opacus", "transformers", "torchvision"}
WEB = {"fastapi", "starlette", "uvicorn", "flask"}
SERVED_ELSEWHERE = {("federated", "uvicorn")}  # Flower's interface for sites is an ASGI app: decision 0029
OPTIONAL = optional_packages()
LIGHT_ROOMS = (
    "core",
    "noise",
    "accounting",
    "text",
    "words",
    "counts",
    "hashed",
    "report",
    "recipes",
    "cli",
    "testing",
)
FORBIDDEN_ROOMS = {"utils", "util", "common", "helpers", "misc"}
ROOT_NAMES = {"__version__"}
SAYS_LATE = "so it is itself imported late"
EXEMPT = {"__init__.py", "core/registry.py", "verbs.py"}  # they resolve names at run time


class Import(NamedTuple):
    file: str
    line: int
    target: str  # dotted name, absolute
    late: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.target}"


def imports_of(root: Path) -> Iterator[Import]:
    """All imports below `root`, the folder of the package `textveil`."""
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        package = ["textveil", *path.relative_to(root).parent.parts]
        for node, late in _walk(tree, late=False):
            for target in _targets(node, package):
                yield Import(file, node.lineno, target, late)


def _walk(node: ast.AST, late: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(child, True)
            continue
        yield child, late
        yield from _walk(child, late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))


def _targets(node: ast.AST, package: list[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
        module = ".".join(part for part in (base, node.module) if part)
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
        return [name] if (name := _literal(node.args[0])) else []
    return []


def _literal(node: ast.AST) -> str:
    """The constant beginning of a string or f-string."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value.rstrip(".") if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def violations(root: Path) -> list[str]:
    items = [item for item in imports_of(root) if item.file not in EXEMPT]
    opened_late = _files_opened_late(items, root)
    found = [why for item in items for why in _faults(item._replace(late=item.late or item.file in opened_late))]
    for folder in sorted(p for p in root.rglob("*") if p.is_dir() and p.name != "__pycache__"):
        name = folder.relative_to(root).as_posix()
        if folder.name in FORBIDDEN_ROOMS or any(p.stem in FORBIDDEN_ROOMS for p in folder.glob("*.py")):
            found.append(f"{name} is, or holds, a place for anything")
        if "/" not in name and name not in ALLOWED and any(folder.glob("*.py")):
            found.append(f"{name} is a room that the plan does not know")
    return found


def _files_opened_late(items: list[Import], root: Path) -> set[str]:
    """Files with an optional package at their top that no other file opens at its own top: they come late as a whole.

    A file may need the package through another one; it counts as such a file if its header says so (SAYS_LATE).
    """
    needing = {item.file for item in items if not item.late and item.target.split(".")[0] in OPTIONAL}
    needing |= {item.file for item in items if SAYS_LATE in (root / item.file).read_text(encoding="utf-8")}
    early = [item.target for item in items if not item.late and item.file not in needing]
    return {file for file in needing if not any(_names_module(target, file) for target in early)}


def _names_module(target: str, file: str) -> bool:
    module = ".".join(["textveil", *Path(file).with_suffix("").parts]).removesuffix(".__init__")
    return target == module or target.startswith(module + ".")


def _faults(item: Import) -> Iterator[str]:
    parts, top = item.target.split("."), item.target.split(".")[0]
    room = item.file.split("/")[0]
    if room == "__main__.py":
        room = "cli"
    if top == "textveil":
        yield from _faults_at_home(item, room, parts[1:])
    if top in TORCH and room not in TORCH_ROOMS and not (room == "words" and top == "torch" and item.late):
        yield f"{item}: torch stays in {', '.join(TORCH_ROOMS)}"
    if top in WEB and room != "web" and (room, top) not in SERVED_ELSEWHERE:
        yield f"{item}: web frameworks stay in web"
    if top in OPTIONAL and room in LIGHT_ROOMS and not item.late:
        yield f"{item}: an optional package is imported inside the function that needs it"


def _faults_at_home(item: Import, room: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield f"{item}: name the room"
    elif parts[0] not in ALLOWED:
        if parts[0] not in ROOT_NAMES:
            yield f"{item}: import it from its room"
    elif parts[0] != room and not any(
        parts[: len(way)] == way for way in (a.split(".") for a in ALLOWED.get(room, ()))
    ):
        yield f"{item}: {room} may import {', '.join(ALLOWED.get(room, ())) or 'no other room'}"


def test_the_house_keeps_its_import_rule():
    assert violations(SOURCE) == []


def test_the_source_was_really_read():
    seen = {item.target.split(".")[1] for item in imports_of(SOURCE) if item.target.startswith("textveil.")}
    assert {"core", "noise", "accounting", "text", "words", "attacks", "recipes"} <= seen


PLANTED = {
    "a technique room imports another": (
        "words/brr.py",
        "from textveil.counts import x",
        "words/brr.py:1 imports textveil.counts.x",
    ),
    "relative": ("words/deep/brr.py", "from ...counts.table import x", "words may import"),
    "from the package": ("noise/a.py", "from textveil import text", "noise may import core"),
    "late": (
        "core/a.py",
        "def f():\n    from ..accounting import ledger",
        "core/a.py:2 imports textveil.accounting.ledger",
    ),
    "by its string": (
        "text/a.py",
        "import importlib\nimportlib.import_module('textveil.words.brr')",
        "text may import core",
    ),
    "by an f-string": (
        "text/a.py",
        "from importlib import import_module\nimport_module(f'textveil.words.{x}')",
        "text may import",
    ),
    "attacks open a technique": ("attacks/a.py", "import textveil.words.brr", "attacks may import"),
    "report opens more than evidence": (
        "report/a.py",
        "from ..attacks.exposure import Exposure",
        "report may import core",
    ),
    "testing opens text": ("testing/a.py", "from ..text.vectors import load", "testing may import"),
    "through the root": ("recipes/a.py", "import textveil", "name the room"),
    "a lazy name of the root": ("recipes/a.py", "from textveil import Ledger", "import it from its room"),
    "torch in core": ("core/a.py", "def f():\n    import torch", "torch stays in"),
    "torch at the top of words": (
        "words/__init__.py",
        "from .a import x",
        "torch stays in",
        ("words/a.py", "import torch"),
    ),
    "numba at the top of words": (
        "words/b.py",
        "from . import a",
        "inside the function",
        ("words/a.py", "import numba"),
    ),
    "a web framework in cli": ("cli/a.py", "def f():\n    from fastapi import FastAPI", "web frameworks stay in web"),
    "a room for anything": ("utils/a.py", "", "a place for anything"),
    "a file for anything": ("core/common.py", "", "a place for anything"),
    "an unknown room": ("attic/a.py", "", "the plan does not know"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_found(name, tmp_path):
    file, code, message, *beside = PLANTED[name]
    for other, text in ((file, code), *beside):
        _plant(tmp_path, other, text)
    found = violations(tmp_path)
    assert any(message in why for why in found), found


LAWFUL = {
    "words/a.py": "def f():\n    import torch, numba",
    "words/kernels.py": "from numba import njit",
    "report/a.py": "from textveil.attacks.evidence import Evidence\nfrom textveil import __version__",
    "core/registry.py": "import importlib\nimportlib.import_module('textveil.report.card')",
    "cli/a.py": "from textveil.reproduce import table\nfrom ..recipes import veil",
    "web/a.py": "import fastapi",
    "nets/a.py": "import torch",
    "recipes/a.py": "from ..words.brr import BRR\nfrom textveil.attacks import exposure",
    "testing/a.py": "from ..attacks.evidence import Evidence\nfrom .b import x",
}


@pytest.mark.parametrize("file", LAWFUL)
def test_what_is_allowed_is_not_reported(file, tmp_path):
    _plant(tmp_path, file, LAWFUL[file])
    assert violations(tmp_path) == []


def _plant(root: Path, file: str, code: str) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(code + "\n", encoding="utf-8")
