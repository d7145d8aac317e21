"""Alice's classifier on disk: `classifier.json` (public facts and a random version) and `weights.npz` (her secret).

    {"format": 1, "version": random, "shape": {...}, "labels": [...], "inputs": {"kind": "sentence", "encoder": "minilm",
     "fingerprint": hash of the encoder, "scale": 19.6}, "training": {...}}

The version is drawn, not computed from the weights, so that it tells nothing about them.
"""

from __future__ import annotations

import json
import secrets
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.core.errors import BadInput
from textveil.core.release import new_folder

from .networks import NetworkShape, check_arrays

FACTS, WEIGHTS, FORMAT = "classifier.json", "weights.npz", 1


@dataclass(frozen=True)
class Classifier:
    """A trained classifier, and how texts become its inputs."""

    shape: NetworkShape
    arrays: Mapping[str, NDArray[np.float32]] = field(repr=False)
    labels: tuple[Any, ...]
    inputs: Mapping[str, Any]
    training: Mapping[str, Any] = field(default_factory=dict)
    version: str = field(default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        check_arrays(self.shape, self.arrays)
        if len(self.labels) != self.shape.classes:
            raise BadInput(f"{self.shape.classes} classes need as many labels, not {len(self.labels)}")

    def public(self) -> dict[str, Any]:
        """What a client is told."""
        return {
            "version": self.version,
            "shape": self.shape.to_json(),
            "labels": list(self.labels),
            "inputs": dict(self.inputs),
        }


def save_classifier(classifier: Classifier, folder: Path) -> None:
    """Write the folder in one step; it must not exist. The weights can be read by their owner only."""
    facts = {"format": FORMAT, **classifier.public(), "training": dict(classifier.training)}
    with new_folder(folder, private=True) as made:
        (made / FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        np.savez(made / WEIGHTS, **classifier.arrays)
        (made / WEIGHTS).chmod(0o600)


def load_classifier(folder: Path) -> Classifier:
    """Read a folder that `save_classifier` wrote; arrays are never unpickled."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
            arrays = {name: np.asarray(stored[name], dtype=np.float32) for name in stored.files}
        if facts["format"] != FORMAT:
            raise BadInput("was written by another version", where=folder)
        return Classifier(
            NetworkShape.from_json(facts["shape"]),
            arrays,
            tuple(facts["labels"]),
            facts["inputs"],
            facts["training"],
            facts["version"],
        )
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        raise BadInput(
            "is no classifier", where=folder, possible="a folder that `textveil classify train` made"
        ) from None


__all__ = ["Classifier", "load_classifier", "save_classifier"]
