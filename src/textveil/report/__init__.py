"""Pages about releases: the card of one (card), the overview of a folder of them (overview)."""

from .card import write_card
from .overview import write_report

__all__ = ["write_card", "write_report"]
