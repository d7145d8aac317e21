"""Bags of words: counts released at limited precision, fewer cells by grouping words, topics that are found again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .balanced import balanced_clusters as balanced_clusters
    from .baselines import (
        FullLocal as FullLocal,
        Sketch as Sketch,
    )
    from .decompression import decompress as decompress
    from .denoise import NoiseAwareTopics as NoiseAwareTopics
    from .mechanism import (
        LimitedPrecision as LimitedPrecision,
        Released as Released,
    )
    from .topics import (
        lda as lda,
        lsa_error as lsa_error,
        matched_jaccard as matched_jaccard,
        topic_words as topic_words,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "balanced": "balanced_clusters",
            "baselines": "FullLocal Sketch",
            "decompression": "decompress",
            "denoise": "NoiseAwareTopics",
            "mechanism": "LimitedPrecision Released",
            "topics": "lda lsa_error matched_jaccard topic_words",
        },
    )
