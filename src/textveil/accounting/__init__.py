"""Prices of events, calibration, and the ledger."""

from .calibration import calibrate
from .ledger import Ledger
from .prices import guarantee_of, price

__all__ = ["Ledger", "calibrate", "guarantee_of", "price"]
