"""Textveil: make sensitive text useful, with the promise as a value.

>>> import textveil as tv
>>> tv.Unit.WORD
<Unit.WORD: 'word'>

Rooms (`tv.words`, `tv.vectors`, `tv.testing`, ...) are loaded when they are first used: `import textveil` itself pulls in
neither torch nor a web framework.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_ROOMS = (
    "accounting",
    "attacks",
    "core",
    "counts",
    "hashed",
    "nets",
    "noise",
    "recipes",
    "report",
    "reproduce",
    "testing",
    "text",
    "training",
    "words",
)
_NAMES = {
    "vectors": "textveil.text.vectors",
    "Ledger": "textveil.accounting.ledger:Ledger",
    **{
        name: f"textveil.core:{name}"
        for name in (
            "Adjacency Approx BadInput BudgetExceeded CannotAdd Cryptographic Estimator Event Guarantee LimitedPrecision "
            "Loss Measured Mechanism Metric NoPromise Pure Refused Release Renyi Shape TextveilError Unit ZCDP"
        ).split()
    },
    "Evidence": "textveil.attacks.evidence:Evidence",
    "Exposure": "textveil.attacks.exposure:Exposure",
}

__all__ = sorted([*_ROOMS, *_NAMES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"textveil.{name}")
    if name in _NAMES:
        module, _, attribute = _NAMES[name].partition(":")
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found
    raise AttributeError(f"module 'textveil' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
