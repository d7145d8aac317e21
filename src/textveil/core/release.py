"""An output with its promise, and the folder it is saved in.

A release folder holds `data.*` (or `model/`), `release.json` and `card.html`. It appears in one step: everything is
written into a hidden folder beside it, which is renamed at the end, so there is no half-written release.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import registry
from .errors import BadInput
from .events import Event, event_from_json
from .guarantee import Guarantee
from .payload import Payload, read_payload, write_payload

MANIFEST = "release.json"
CARD = "card.html"


@dataclass(frozen=True)
class Stamp:
    """When, by which versions and with which public parameters a release was made; `draft` if a seed was used."""

    mechanism: str
    parameters: dict[str, Any] = field(default_factory=dict)
    draft: bool = False
    created: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)  # further public facts for the card (document line, policies)

    @classmethod
    def now(
        cls, mechanism: str, parameters: dict[str, Any], *, draft: bool, facts: dict[str, Any] | None = None
    ) -> Stamp:
        created = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(mechanism, dict(parameters), draft, created, package_versions(), dict(facts or {}))


@dataclass(frozen=True)
class Release:
    """A value that left the private side, the event that made it, and what is promised about it."""

    value: Any
    event: Event
    guarantee: Guarantee
    entry: str | None
    stamp: Stamp
    evidence: tuple[dict[str, Any], ...] = ()

    def then(self, post: Callable[[Any], Any]) -> Release:
        """Post-processing: whatever is computed from the value alone keeps the promise."""
        return replace(self, value=post(self.value), evidence=())

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the folder in one step; refuses to overwrite anything."""
        with new_folder(folder) as hidden:
            data = write_payload(hidden, self.value)
            write_manifest(hidden, self.manifest(data))
        return Path(folder)

    def manifest(self, data: str) -> dict[str, Any]:
        """Contract 2: what `release.json` says."""
        from textveil import __version__

        return {
            "textveil": __version__,
            "mechanism": self.stamp.mechanism,
            "parameters": self.stamp.parameters,
            "guarantee": self.guarantee.to_json(),
            "event": self.event.to_json(),
            "entry": self.entry,
            "draft": self.stamp.draft,
            "created": self.stamp.created,
            "versions": self.stamp.versions,
            "facts": self.stamp.facts,
            "data": data,
            "evidence": list(self.evidence),
        }

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Release:
        """Read a folder back; large data files stay on disk until the value is used."""
        shown = read_manifest(folder)
        stamp = Stamp(
            shown["mechanism"],
            shown["parameters"],
            shown["draft"],
            shown["created"],
            shown["versions"],
            shown.get("facts", {}),
        )
        return cls(
            read_payload(Path(folder), shown["data"]),
            event_from_json(shown["event"]),
            Guarantee.from_json(shown["guarantee"]),
            shown["entry"],
            stamp,
            tuple(shown.get("evidence", ())),
        )


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden folder beside `folder` that takes its name when the block ends well and vanishes when it does not."""
    target = Path(folder)
    check_free(target)
    hidden = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden.mkdir(mode=0o700)
        yield hidden
        settle(hidden, target)
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=target) from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def settle(hidden: Path, target: Path) -> None:
    """Give a finished hidden folder its name: readable like any other folder, complete on disk, in one rename."""
    umask = os.umask(0)
    os.umask(umask)
    hidden.chmod(0o777 & ~umask)
    for file in hidden.rglob("*"):
        if file.is_file():
            file.chmod(0o666 & ~umask)
            with open(file, "rb") as handle:
                os.fsync(handle.fileno())
    if target.is_dir():
        target.rmdir()  # only ever an empty one, see check_free
    os.rename(hidden, target)


def check_free(target: Path) -> None:
    """Nothing is ever overwritten: the name must be free, or an empty folder."""
    if target.is_symlink() or target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise BadInput("exists already", where=target, possible="a new name, or remove it first")


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write `release.json` and the card that is drawn from it, each in one step."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
    _write_whole(folder / MANIFEST, text + "\n")
    _write_whole(folder / CARD, registry.find("writer", "card")(manifest))


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """`release.json` of a folder, or one sentence that says why it is none."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise BadInput("is not a release folder (it has no release.json)", where=folder)
    try:
        shown = json.loads(path.read_text(encoding="utf-8"))
        missing = [k for k in ("mechanism", "parameters", "guarantee", "data", "draft") if k not in shown]
    except (ValueError, TypeError, OSError):
        raise BadInput("is not valid JSON", where=path) from None
    if missing:
        raise BadInput(f"lacks {', '.join(missing)}", where=path)
    return shown


def package_versions() -> dict[str, str]:
    """Versions that a rerun would need to know."""
    found = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "opendp", "dp-accounting"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _write_whole(path: Path, text: str) -> None:
    hidden = path.with_name(f".{path.name}.tmp")
    hidden.write_text(text, encoding="utf-8")
    os.replace(hidden, path)


__all__ = ["Payload", "Release", "Stamp", "new_folder", "read_manifest", "write_manifest"]
