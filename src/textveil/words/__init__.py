"""Word-level metric DP: each word of a text is replaced by a word drawn near it, with odds that are bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .brr import BRR as BRR
    from .exponential import Exponential as Exponential
    from .laplace import Laplace as Laplace
    from .mahalanobis import Mahalanobis as Mahalanobis
    from .mechanism import WordMechanism as WordMechanism
    from .tem import TEM as TEM
    from .vickrey import Vickrey as Vickrey
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "brr": "BRR",
            "exponential": "Exponential",
            "laplace": "Laplace",
            "mahalanobis": "Mahalanobis",
            "mechanism": "WordMechanism",
            "tem": "TEM",
            "vickrey": "Vickrey",
        },
    )
