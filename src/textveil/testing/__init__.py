"""Check suites for authors of mechanisms, accountants and attacks, and statistics with a declared false-alarm rate.

Loaded when first used, each from its own file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .accountants import check_accountant as check_accountant
    from .attacks import check_attack as check_attack
    from .audits import two_worlds as two_worlds
    from .conformance import check_registered as check_registered
    from .laws import (
        BrokenLaw as BrokenLaw,
        Checked as Checked,
        Worlds as Worlds,
    )
    from .mechanisms import check_mechanism as check_mechanism
    from .statistics import (
        Outcome as Outcome,
        assert_accepted as assert_accepted,
        assert_binomial as assert_binomial,
        assert_chi_square as assert_chi_square,
        assert_ks as assert_ks,
        assert_rejected as assert_rejected,
        assert_two_sample as assert_two_sample,
        at_once as at_once,
        binomial_test as binomial_test,
        chi_square_test as chi_square_test,
        ks_test as ks_test,
        two_sample_test as two_sample_test,
    )
    from .transition import (
        Certificate as Certificate,
        certify as certify,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "accountants": "check_accountant",
            "attacks": "check_attack",
            "audits": "two_worlds",
            "conformance": "check_registered",
            "laws": "BrokenLaw Checked Worlds",
            "mechanisms": "check_mechanism",
            "statistics": (
                "Outcome assert_accepted assert_binomial assert_chi_square assert_ks assert_rejected "
                "assert_two_sample at_once binomial_test chi_square_test ks_test two_sample_test"
            ),
            "transition": "Certificate certify",
        },
    )
