"""Extraction models in a hash table: features of contracts, a sequence model, the seal that fills every slot, its cost."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Extractor": "extractor",
    "FeaturePlan": "plan",
    "Span": "decode",
    "WeightTable": "table",
    "load": "extractor",
    "slots_of": "features",
    "tokenize": "segments",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"textveil.hashed.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'textveil.hashed' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
