"""The secrets of one masking: the key of its file, and the map that is written beside (never inside) the release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from textveil.core.errors import BadInput
from textveil.pii.masking.keys import MaskKey, require_key
from textveil.pii.masking.people import People
from textveil.pii.masking.vault import MapWriter, people_of, read_map


class HasSecrets(Protocol):
    """What a job says about its secrets."""

    @property
    def out(self) -> Path: ...

    @property
    def key_file(self) -> Path | None: ...

    @property
    def map(self) -> Path | None: ...

    @property
    def seed(self) -> int | None: ...


@dataclass
class MaskSecrets:
    """A key and the place of a map, where they were asked for."""

    key: MaskKey | None
    map: Path | None
    notices: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, job: HasSecrets) -> MaskSecrets:
        """Read the key (or make its file), and see that the map can be gone on with."""
        if job.key_file is not None and job.seed is not None:
            raise BadInput("--seed and --key-file exclude each other", possible="one of them")
        if job.map is not None and job.key_file is None:
            raise BadInput("a map is encrypted under a key", possible="--map FILE --key-file FILE")
        for path in (job.key_file, job.map):
            if path is not None and job.out.absolute() in (path.absolute(), *path.absolute().parents):
                raise BadInput(
                    "secrets never stand in the release folder", where=path, possible="a place outside of it"
                )
        if job.key_file is None:
            return cls(None, None)
        key, is_new = require_key(job.key_file, make=job.map is None or not job.map.exists())
        if job.map is not None and job.map.exists():
            next(iter(read_map(job.map, key)), None)  # a wrong key is told before anything is read
        notices = [f"made the key {job.key_file}: whoever has it can undo the masking; keep it apart"] if is_new else []
        return cls(key, job.map, notices)

    def people(self) -> People:
        """The people that the map knows already, or nobody."""
        if self.map is None or self.key is None or not self.map.exists():
            return People(self.key)
        return people_of(read_map(self.map, self.key), self.key)

    @contextmanager
    def writer(self, key: MaskKey, release: str) -> Iterator[MapWriter | None]:
        """The map of this release, behind what an older map holds; it vanishes if the release does not come about."""
        if self.map is None:
            yield None
            return
        writer = MapWriter(self.map, key, release)
        try:
            if self.map.exists():
                for chunk in read_map(self.map, key):
                    if chunk["kind"] == "log":
                        writer.copy(chunk)
            yield writer
        except BaseException:
            writer.discard()
            raise


__all__ = ["MaskSecrets"]
