"""A hash of the code behind a cell, so that a changed cell is never read from a stale cache.

Why a hash, and not only a version that somebody raises: who changes a cell forgets the version, and nothing notices. The
hash covers the module of the cell's function and whatever that imports of `textveil.reproduce`, without comments,
docstrings and layout: to reword a sentence costs no run. It does not follow into the rooms (`textveil.hashed`,
`textveil.training` ...): a new error message there would run every study again. Where a room computes something else
than before, the kind's `version` is raised.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

ROOM = "textveil.reproduce"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_hash(function: Callable[..., Any]) -> str:
    """The hash of the function's name and of all modules behind it.

    >>> code_hash(print) == code_hash(len)
    False
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    parts = [name, *(f"{module}\n{_read(path).code}" for module, path in _modules_behind(function))]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _modules_behind(function: Callable[..., Any]) -> list[tuple[str, Path]]:
    """The function's module and what it imports of this room, directly or not, in the order of names."""
    files: dict[str, Path] = {}
    waiting, package = [function.__module__], function.__module__.partition(".")[0]
    homes = (f"{ROOM}.",) if package == "textveil" else (f"{ROOM}.", f"{package}.")  # of a plug-in, all of it
    while waiting:
        module = waiting.pop()
        path = _file_of(module)
        if module in files or path is None:
            continue
        files[module] = path
        waiting += [name for name in _read(path).imports if name.startswith(homes)]
    return sorted(files.items())


def _file_of(module: str) -> Path | None:
    """Where a module is written; None for what is no Python file (built-in, or a name inside a module)."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


class _Module(NamedTuple):
    code: str  # without comments, docstrings and layout
    imports: tuple[str, ...]  # what they may mean: of `from a import b`, both `a` and `a.b`


def _read(path: Path) -> _Module:
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=128)
def _parsed(path: Path, changed: int) -> _Module:
    """One file; it is parsed again when it has changed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        elif isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return _Module(ast.unparse(tree), tuple(imports))
