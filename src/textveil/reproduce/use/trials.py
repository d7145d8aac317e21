"""Cells of the trials: what the product foresees on a file, in its two halves (recipes/use/trial.py).

    trial   accuracy learnt from at most 1,000 documents, veiled by an arm, tested on clear ones of the same file
    own     the file's own learning curve

A file is the first so many texts of a collection; the texts that the study tests on are never among them.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from textveil.recipes.use import trial as trials
from textveil.reproduce.use.arms import mechanism_at
from textveil.reproduce.use.collections import collection


def trial(data: Path, *, name: str, file: int, **arm: Any) -> dict[str, Any]:
    """The trial as `veil --label-field` makes it."""
    return asdict(trials.try_out(mechanism_at(**arm), _file(data, name, file)))


def own(data: Path, *, name: str, file: int) -> dict[str, Any]:
    """The learning curve of a file's clear texts."""
    curve = trials.own_curve(_file(data, name, file))
    return {
        "curve": [list(point) for point in zip(curve.documents, curve.accuracy, strict=True)],
        "chance": curve.chance,
    }


def _file(data: Path, name: str, file: int) -> trials.OwnText:
    texts = collection(data, name, file)
    return trials.own_text(texts.train, texts.numbers.tolist(), "label")
