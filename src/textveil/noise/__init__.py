"""Randomness: a secure source by default, a seeded one for drafts, and the samplers of the mechanisms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .source import (
        Source as Source,
        secure as secure,
        seeded as seeded,
        source_for as source_for,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "source": "Source secure seeded source_for",
        },
    )
