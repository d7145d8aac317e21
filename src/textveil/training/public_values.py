"""Parameters as a release shows them: numbers and names, no objects, no paths of a machine, no data.

Public word lists are shown by their length: the words themselves stand in the model's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import Event
from textveil.text.vectors import Vectors

_PATHS = ("vectors", "encoder")


def public_value(name: str, value: Any) -> Any:
    """A plain value for one parameter.

    >>> public_value("encoder", "/home/anna/models/bert"), public_value("words", ["a", "b"]), public_value("clip", 0.2)
    ('bert', '2 words', 0.2)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Vectors):
        return f"{value.name} ({value.fingerprint[:16]})"
    if isinstance(value, Event):
        return value.mechanism
    if isinstance(value, (str, Path)):
        return Path(value).name if name in _PATHS else str(value)
    if name == "words":
        return f"{len(value):,} words"
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Sequence):
        return [public_value(name, item) for item in value]
    return type(value).__name__
