"""An output with its promise, and the folder it is saved in.

A release folder holds `data.*` (or `model/`), `release.json`, `card.html` and the further names that its mechanism
registers (`registry.FILES`); nothing else may stand in it. It appears in one step: everything is written into a hidden
folder, which gets its name at the end (`settle`), so there is no half-written release.
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
from typing import Any, Self

from . import registry
from .errors import BadInput
from .events import Event, event_from_json
from .files import empty_folder, lock_folder, sync_folder, write_whole
from .guarantee import Guarantee
from .manifest import MANIFEST, read_manifest
from .payload import Payload, read_payload, write_payload

CARD = "card.html"
FORMAT = 2  # of release.json


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
    passes: tuple[str, ...] = ()  # everything that left unprotected, by name
    entries: tuple[str, str] | None = None  # the first and the last line, where there were several charges
    head: str | None = None  # of the ledger after the charge: an anchor for its chain

    def then(self, post: Callable[[Any], Any]) -> Release:
        """Post-processing: whatever is computed from the value alone keeps the promise."""
        return replace(self, value=post(self.value), evidence=())

    def _repr_html_(self) -> str:
        """As a notebook shows it: the promise and what left unprotected, never the value."""
        from .notebook import release_html

        return release_html(self)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the folder in one step; refuses to overwrite anything."""
        with new_folder(folder) as hidden:
            data = write_payload(hidden, self.value)
            write_manifest(hidden, self.manifest(data))
            check_names(hidden, self.stamp.mechanism)
        return Path(folder)

    def manifest(self, data: str) -> dict[str, Any]:
        """Contract 2: what `release.json` says."""
        from textveil import __version__

        return {
            "textveil": __version__,
            "format": FORMAT,
            "mechanism": self.stamp.mechanism,
            "parameters": self.stamp.parameters,
            "guarantee": self.guarantee.to_json(),
            "event": self.event.to_json(),
            "entry": self.entry,
            "entries": None if self.entries is None else list(self.entries),
            "head": self.head,
            "draft": self.stamp.draft,
            "created": self.stamp.created,
            "versions": self.stamp.versions,
            "passes": list(self.passes),
            "facts": self.stamp.facts,
            "data": data,
            "evidence": list(self.evidence),
        }

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
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
            tuple(shown.get("passes", ())),
            tuple(shown["entries"]) if shown.get("entries") else None,
            shown.get("head"),
        )


@dataclass(frozen=True)
class ReleaseFolder(Release):
    """A release that stands in a folder, as the verbs make it (`tv.veil`, `tv.count`, ...).

    `result` has what the command line prints with `--json`: numbers of records and words, scores, warnings. Some of it may be
    about the private data alone; what may leave is in the folder.
    """

    folder: Path = Path()
    result: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: str | os.PathLike[str], result: dict[str, Any] | None = None) -> ReleaseFolder:
        """The release of a folder, with what was printed when it was made."""
        return replace(cls.load(folder), folder=Path(folder), result=dict(result or {}))

    def _repr_html_(self) -> str:
        """As a notebook shows it, with its place."""
        from .notebook import release_html

        return release_html(self, str(self.folder))

    @property
    def card(self) -> Path:
        """Its card, a page to look at."""
        return self.folder / CARD


@contextmanager
def new_folder(folder: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """A hidden folder beside `folder` that takes its name when the block ends well and vanishes when it does not.

    What a killed process left there is removed by the next one. `private`: only its owner can read what is in it.
    """
    target = Path(folder)
    check_named(target)
    check_free(target)
    check_writable(target)
    hidden = target.with_name(f".{target.name}.new")
    held = lock_folder(hidden)
    try:
        empty_folder(hidden)
        filled = hidden / "folder"
        filled.mkdir(mode=0o700)
        yield filled
        settle(filled, target, private=private)
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=target) from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        os.close(held)


def settle(hidden: Path, target: Path, *, private: bool = False) -> None:
    """Give a finished hidden folder its name: readable like any other (or `private`), complete on disk, in one rename."""
    umask = os.umask(0o077)
    os.umask(umask)
    umask |= 0o077 if private else 0
    for path in sorted(hidden.rglob("*")):
        path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
        if path.is_file():
            with open(path, "rb") as handle:
                os.fsync(handle.fileno())
    hidden.chmod(0o777 & ~umask)
    sync_folder(hidden)
    os.rename(hidden, target)  # an empty folder of that name is replaced, anything else is an error
    sync_folder(target.parent)


def check_named(target: Path) -> None:
    """Refuse `.`, `..` and `/`: what lies beside a release while it is made is named after it."""
    if target.name in ("", ".."):
        raise BadInput("a release needs a name of its own", where=target, possible="a new folder, e.g. out")


def check_free(target: Path) -> None:
    """Nothing is ever overwritten: the name must be free, or an empty folder."""
    if target.is_symlink() or target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise BadInput("exists already", where=target, possible="a new name, or remove it first")


def check_writable(target: Path) -> None:
    """Find out that a folder cannot be made before anything is charged."""
    existing = next(p for p in (target.parent, *target.parent.absolute().parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise BadInput("cannot be written (no permission, or not a folder)", where=existing)


def check_names(folder: Path, mechanism: str) -> None:
    """Refuse to let anything leave that the mechanism did not register."""
    allowed = {MANIFEST, CARD, "model", *registry.files_of(mechanism)}
    strays = [p.name for p in folder.iterdir() if p.name not in allowed and not _is_data(p.name)]
    strays += [
        p.relative_to(folder).as_posix() for p in sorted(folder.rglob(".*")) if p.parent != folder
    ]  # half-written
    if strays:
        raise BadInput(f"{len(strays)} files that {mechanism} does not register would leave: {', '.join(strays)}")


def _is_data(name: str) -> bool:
    """`data.jsonl`, `data.csv.gz`; of two files that run in parallel `data.en` and `data.de`."""
    return name.startswith("data.") and "/" not in name


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the card and `release.json`, from which it is drawn, each in one step."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / CARD, registry.find("writer", "card")(manifest))
    write_whole(folder / MANIFEST, text + "\n")


def package_versions() -> dict[str, str]:
    """Versions that a rerun would need to know."""
    found = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "opendp", "dp-accounting"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


__all__ = ["Payload", "Release", "ReleaseFolder", "Stamp", "new_folder", "read_manifest", "write_manifest"]
