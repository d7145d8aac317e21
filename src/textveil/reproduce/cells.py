"""Cells: the pieces of a study that are run once and kept.

A cell is the name of its kind and its parameters; what it gives is one JSON value. The store is content-addressed: the key
of a result is a hash of the paper, the kind, its code (`code_hash`) and version, the parameters and the fingerprint of the
data it reads. Whatever changes one of these is a new cell; nothing else makes an old result run again. A kind's version is
raised by whoever changes what a room computes for it, which the hash of its code does not see.

A result appears under its key in one step (written aside, then renamed), so a run that is killed loses only the cells
that it was working on.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.reproduce.code_hash import code_hash

Result = dict[str, Any]
BUNDLED = "bundled vectors"  # named in `needs` by kinds that use the default vectors


@dataclass(frozen=True)
class Kind:
    """What cells of one name run: `function(data, **parameters)` gives a JSON object.

    `needs` names folders of the data directory, and others or files by their whole path; `alone` marks what is timed and
    must not share the machine. With `keeps` the function also gets `kept`, a folder of the cache for files that are too
    large for a result, such as models; cells may share them, and make them again where they are missing.
    """

    function: Callable[..., Result]
    version: int = 1
    needs: tuple[str, ...] = ()
    alone: bool = False
    keeps: bool = False


@dataclass(frozen=True)
class Cell:
    """One piece of work: hashable, printable, the same in every process.

    >>> Cell.of("accuracy", seed=3, epsilon=0.5)
    Cell(kind='accuracy', text='{"epsilon": 0.5, "seed": 3}')
    """

    kind: str
    text: str  # the parameters, as JSON with sorted keys

    @classmethod
    def of(cls, kind: str, **parameters: Any) -> Cell:
        return cls(kind, json.dumps(parameters, sort_keys=True, allow_nan=False))

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(json.loads(self.text))


def grid(kind: str, **axes: Iterable[Any]) -> list[Cell]:
    """One cell for each combination.

    >>> [cell.text for cell in grid("accuracy", epsilon=[1, 2], seed=[0])]
    ['{"epsilon": 1, "seed": 0}', '{"epsilon": 2, "seed": 0}']
    """
    return [Cell.of(kind, **dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values())]


class Store:
    """Results on disk, by key."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)

    def get(self, key: str) -> dict[str, Any] | None:
        """What was kept under the key, or None; a file that cannot be read counts as absent."""
        try:
            kept = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) and "result" in kept else None

    def put(self, key: str, cell: Cell, result: Result, seconds: float) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"cell": cell.kind, "parameters": cell.parameters, "seconds": round(seconds, 3), "result": result}
        handle, aside = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(kept, file, allow_nan=False)
            os.replace(aside, path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise

    def files(self, paper: str) -> Path:
        """The folder for files that cells of a paper keep."""
        return (self.folder / "files" / paper).resolve()

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def key_of(paper: str, cell: Cell, kind: Kind, data: Path | None) -> str:
    """The address of the cell's result.

    >>> kind = Kind(print)
    >>> key_of("01", Cell.of("a", seed=1), kind, None) == key_of("01", Cell.of("a", seed=2), kind, None)
    False
    """
    data_read = [fingerprint(name, data) for name in kind.needs]
    whole = json.dumps([paper, cell.kind, kind.version, code_hash(kind.function), cell.text, data_read])
    return hashlib.blake2b(whole.encode(), digest_size=20).hexdigest()


def fingerprint(name: str, data: Path | None) -> str:
    """A hash of one folder of the data directory, of what a system package installs, or of the bundled vectors."""
    if name == BUNDLED:
        from textveil.text.vectors import DEFAULT

        return _file_hash([DEFAULT])
    if Path(name).is_absolute():
        files = [Path(name)] if Path(name).is_file() else _files(Path(name))
        if not files:
            raise BadInput(
                "this study reads what is not there",
                where=name,
                possible="install the system package that has it (docs/papers names it)",
            )
        return _file_hash(files)
    if data is None:
        raise BadInput("this study reads evaluation data", possible="--data DIR, or TEXTVEIL_DATA=DIR")
    files = _files(data / name)
    if not files:
        raise BadInput(f"the data directory has no folder '{name}' with files in it", where=data)
    return _file_hash(files)


def _files(folder: Path) -> list[Path]:
    """The files of a folder that is there, but for pages that explain it."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".md") if folder.is_dir() else []


def _file_hash(files: list[Path]) -> str:
    return _hash_of(tuple((str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in files))


@lru_cache(maxsize=64)
def _hash_of(files: tuple[tuple[str, int, int], ...]) -> str:
    """Names and contents; size and time only decide whether a file is read again within one process."""
    digest = hashlib.blake2b(digest_size=16)
    for path, size, _ in files:
        digest.update(f"{Path(path).name} {size}\n".encode())
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()
