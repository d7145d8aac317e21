"""Parallel text in pieces: word alignment, phrase pairs, what leaves of them, and translation models that learn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .aligner import Aligner as Aligner
    from .mechanism import Fragments as Fragments
    from .phrases import extract as extract
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "aligner": "Aligner",
            "mechanism": "Fragments",
            "phrases": "extract",
        },
    )
