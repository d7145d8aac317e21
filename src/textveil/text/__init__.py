"""Text: tokens that join back, files in many formats, vocabularies, vectors and binary codes, bundled data."""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = ("binarise", "codes", "documents", "fingerprint", "readers", "sample", "tokens", "vectors", "writers")

__all__ = list(_PARTS)


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"textveil.text.{name}")
    raise AttributeError(f"module 'textveil.text' has no attribute '{name}'")
