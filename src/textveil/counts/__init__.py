"""Bags of words: counts released at limited precision, fewer cells by grouping words, topics that are found again."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "LimitedPrecision": "mechanism",
    "Released": "mechanism",
    "FullLocal": "baselines",
    "Sketch": "baselines",
    "NoiseAwareTopics": "denoise",
    "balanced_clusters": "balanced",
    "decompress": "decompress",
    "lda": "topics",
    "lsa_error": "topics",
    "matched_jaccard": "topics",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"textveil.counts.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'textveil.counts' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
