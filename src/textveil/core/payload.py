"""How a released value becomes a file: a table of kinds, since a folder must be readable without this package.

list of str         data.jsonl   one {"text": ...} per line
numpy array         data.npz
scipy sparse matrix data.npz     scipy.sparse.save_npz
Payload(path)       the file as it is, under its name; a folder becomes model/
anything else       data.json
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import BadInput


@dataclass(frozen=True)
class Payload:
    """A value that already is a file (or a folder, for a model), too large or too foreign to hold in memory."""

    path: Path
    name: str = ""


def write_payload(folder: Path, value: Any) -> str:
    """Write a value into a folder and return its file name."""
    if isinstance(value, Payload):
        return _adopt(folder, value)
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        with open(folder / "data.jsonl", "w", encoding="utf-8") as out:
            for text in value:
                out.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
        return "data.jsonl"
    if isinstance(value, np.ndarray):
        np.savez_compressed(folder / "data.npz", value=value)
        return "data.npz"
    if hasattr(value, "tocsr"):
        from scipy import sparse

        sparse.save_npz(folder / "data.npz", value.tocsr())
        return "data.npz"
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise BadInput(
            f"a value of type {type(value).__name__} cannot be saved",
            possible="texts, arrays, sparse matrices, JSON values",
        ) from None
    (folder / "data.json").write_text(text + "\n", encoding="utf-8")
    return "data.json"


def read_payload(folder: Path, name: str) -> Any:
    """The value behind a file name of a release folder."""
    path = folder / name
    if not path.exists():
        raise BadInput(f"lacks its data file '{name}'", where=folder)
    if name == "data.jsonl":
        with open(path, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
        if all(isinstance(r, dict) and list(r) == ["text"] for r in rows):
            return [r["text"] for r in rows]
        return Payload(path, name)
    if name == "data.json":
        return json.loads(path.read_text(encoding="utf-8"))
    if name == "data.npz":
        with np.load(path, allow_pickle=False) as stored:
            if "value" in stored:
                return stored["value"]
        from scipy import sparse

        return sparse.load_npz(path)
    return Payload(path, name)


def _adopt(folder: Path, value: Payload) -> str:
    name = value.name or (("model") if value.path.is_dir() else value.path.name)
    target = folder / name
    if target.resolve() == value.path.resolve():
        return name
    if value.path.is_dir():
        shutil.copytree(value.path, target)
    else:
        shutil.copyfile(value.path, target)
    return name
