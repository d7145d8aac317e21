"""Word-level metric DP: each word of a text is replaced by a word drawn near it, with odds that are bounded."""

from __future__ import annotations

import importlib
from typing import Any

_MECHANISMS = {
    "BRR": "brr",
    "Exponential": "exponential",
    "Laplace": "laplace",
    "Mahalanobis": "mahalanobis",
    "TEM": "tem",
    "Vickrey": "vickrey",
}

__all__ = sorted(_MECHANISMS)


def __getattr__(name: str) -> Any:
    if name in _MECHANISMS:
        return getattr(importlib.import_module(f"textveil.words.{_MECHANISMS[name]}"), name)
    raise AttributeError(f"module 'textveil.words' has no attribute '{name}'")
