"""Where the lines go that Flower logs."""

from __future__ import annotations

import logging
from pathlib import Path


def log_to(path: Path | None) -> None:
    """Send what Flower says to a file, or nowhere: the terminal belongs to the command."""
    logger = logging.getLogger("flwr")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    logger.propagate = False
    handler = logging.NullHandler() if path is None else logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


__all__ = ["log_to"]
