"""The data of a federation: who the units are (users of a field, or sites, one file each) and what each of them has.

Splits, for studies: `iid` deals all examples anew to units of the same sizes, so that no unit is like itself any more;
`sites` cuts one file into so many sites: at random (iid), in the order of the file (blocks), or sorted by label (labels).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import BadInput, Unit
from textveil.text.examples import Examples, check_labels, read_tagged, read_text_lists, read_texts
from textveil.text.readers import FileOptions

SPLITS = ("natural", "iid", "blocks", "labels")


@dataclass(frozen=True)
class UnitSource(FileOptions):
    """Where the units are read from. It is small and picklable: a process that trains opens the data by `units_of`."""

    sources: tuple[Path, ...]
    task: str
    user_field: str | None = None
    label_field: str | None = None
    labels: tuple[str, ...] | None = None  # declared, or those of the model to start from
    sites: int | None = None
    split: str = "natural"
    split_seed: int = 0

    def __call__(self) -> list[list[Any]]:
        """The examples of each unit."""
        return read_units(self).examples


@dataclass(frozen=True)
class UnitData:
    """What was read: the examples of each unit, names (of sites only), and the labels that occur."""

    examples: list[list[Any]]
    unit: Unit
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        return [len(own) for own in self.examples]


def read_units(source: UnitSource) -> UnitData:
    """Read and check everything; a fault is named by file and line."""
    if not source.sources:
        raise BadInput("there is no file to learn from")
    files = [read_file(source, path) for path in source.sources]
    labels = _labels(source, files)
    unit, units, names = _units(source, files)
    if not any(units):
        raise BadInput("holds no text to learn from", where=source.sources[0])
    texts = [text for file in files for text in file.texts()]
    return UnitData(_split(source, units), unit, names, labels, texts)


def read_file(source: UnitSource, path: Path, *, users: bool = True) -> Examples:
    """One file as the task reads it."""
    user_field = source.user_field if users else None
    if source.task == "tagger":
        return read_tagged(path, format=source.format, user_field=user_field, encoding=source.encoding)
    label = (source.label_field or "label") if source.task == "classifier" else None
    if source.task == "lm":
        lists = read_text_lists(path, user_field=user_field, **source.reading())
        if lists is not None:
            return _filled(lists, path)
    return _filled(read_texts(path, label_field=label, user_field=user_field, **source.reading()), path)


def _filled(examples: Examples, path: Path) -> Examples:
    if not examples.inputs:
        raise BadInput("holds no texts", where=path)
    return examples


def pairs_of(task: str, file: Examples) -> list[Any]:
    """Examples as the net's `collate` takes them."""
    return list(file.inputs) if task == "lm" else list(zip(file.inputs, file.targets, strict=True))


def _units(source: UnitSource, files: Sequence[Examples]) -> tuple[Unit, list[list[Any]], list[str]]:
    if source.user_field is not None:
        held: dict[str, list[Any]] = {}
        for file in files:
            for user, example in zip(file.users or (), pairs_of(source.task, file), strict=True):
                held.setdefault(user, []).append(example)
        return Unit.USER if source.split == "natural" else Unit.CLIENT, list(held.values()), []
    if source.sites is not None:
        pooled = [example for file in files for example in pairs_of(source.task, file)]
        return Unit.CLIENT, _cut(source, pooled), [f"site {k + 1}" for k in range(source.sites)]
    if len(files) == 1:
        raise BadInput(
            "nobody can tell whose text this is",
            where=source.sources[0],
            possible="--user-field FIELD, one file per site, or --sites N to cut it up for a study",
        )
    return Unit.CLIENT, [pairs_of(source.task, file) for file in files], [path.name for path in source.sources]


def _cut(source: UnitSource, pooled: list[Any]) -> list[list[Any]]:
    """One pool as sites of equal size."""
    count = source.sites or 1
    if count > len(pooled):
        raise BadInput(f"{len(pooled)} examples cannot be cut into {count} sites", possible="fewer --sites")
    if source.split == "labels":
        pooled = sorted(pooled, key=lambda example: repr(example[1]) if isinstance(example, tuple) else "")
    elif source.split != "blocks":
        order = np.random.default_rng(source.split_seed).permutation(len(pooled)).tolist()
        pooled = [pooled[i] for i in order]
    ends = np.linspace(0, len(pooled), count + 1).astype(int).tolist()
    return [pooled[start:end] for start, end in pairwise(ends)]


def _split(source: UnitSource, units: list[list[Any]]) -> list[list[Any]]:
    """The units as they are, or all examples dealt anew to units of the same sizes."""
    if source.split != "iid" or source.sites is not None:
        return units
    pooled = [example for own in units for example in own]
    order = iter(np.random.default_rng(source.split_seed).permutation(len(pooled)).tolist())
    return [[pooled[next(order)] for _ in own] for own in units]


def _labels(source: UnitSource, files: Sequence[Examples]) -> list[str]:
    """The labels that all agree on: declared, of the first site, or (one file) all that occur. Others are refused."""
    if source.task == "lm":
        return []
    is_declared = source.labels is not None
    known = list(source.labels) if source.labels is not None else sorted(_occurring(files[0]))
    for file, path in zip(files, source.sources, strict=True):
        check_labels(file, known, path, declared=is_declared)
    if source.task == "tagger":
        from textveil.training.tagger import tag_set

        return known if is_declared else tag_set([known])
    return known


def _occurring(file: Examples) -> Iterator[str]:
    seen: set[str] = set()
    for target in file.targets:
        seen.update(target if isinstance(target, (list, tuple)) else [target])
    yield from seen
