"""Pages about releases: the card of one (card), the overview of a folder of them (overview)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .card import write_card as write_card
    from .overview import write_report as write_report
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "card": "write_card",
            "overview": "write_report",
        },
    )
