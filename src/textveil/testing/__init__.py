"""Check suites for authors of mechanisms, accountants and attacks, and statistics with a declared false-alarm rate.

Loaded when first used, each from its own file.
"""

from __future__ import annotations

import importlib
from typing import Any

_STATISTICS = (
    "Outcome",
    "assert_accepted",
    "assert_binomial",
    "assert_chi_square",
    "assert_ks",
    "assert_rejected",
    "assert_two_sample",
    "at_once",
    "binomial_test",
    "chi_square_test",
    "ks_test",
    "two_sample_test",
)
_HOMES = {
    "check_mechanism": "mechanisms",
    "BrokenLaw": "laws",
    "Checked": "laws",
    "Worlds": "laws",
    "check_accountant": "accountants",
    "check_attack": "attacks",
    "certify": "transition",
    "Certificate": "transition",
    "two_worlds": "audits",
    **dict.fromkeys(_STATISTICS, "statistics"),
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"textveil.testing.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'textveil.testing' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
