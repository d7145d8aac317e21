"""Prices of events, calibration, and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .calibration import calibrate as calibrate
    from .deltas import check_delta as check_delta
    from .ledger import Ledger as Ledger
    from .prices import (
        guarantee_of as guarantee_of,
        price as price,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "calibration": "calibrate",
            "deltas": "check_delta",
            "ledger": "Ledger",
            "prices": "guarantee_of price",
        },
    )
