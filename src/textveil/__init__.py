"""Textveil: make sensitive text useful, with the promise as a value.

>>> import textveil as tv
>>> tv.Unit.WORD
<Unit.WORD: 'word'>

Verbs (`tv.veil`, `tv.audit`, ...) take a file to a release; rooms (`tv.words`, `tv.counts`, ...) have the mechanisms. All are
loaded when they are first used: `import textveil` itself pulls in neither numpy nor torch nor a web framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names
from textveil.verbs import VERBS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import (
        accounting as accounting,
        attacks as attacks,
        core as core,
        counts as counts,
        federated as federated,
        fragments as fragments,
        hashed as hashed,
        mpc as mpc,
        nets as nets,
        noise as noise,
        pii as pii,
        recipes as recipes,
        report as report,
        reproduce as reproduce,
        testing as testing,
        text as text,
        training as training,
        words as words,
    )
    from .accounting import Ledger as Ledger
    from .attacks import (
        CountsSeen as CountsSeen,
        Evidence as Evidence,
        Exposure as Exposure,
        ModelSeen as ModelSeen,
        TableSeen as TableSeen,
        TwoWorlds as TwoWorlds,
        WordsSeen as WordsSeen,
    )
    from .core import (
        ZCDP as ZCDP,
        Adjacency as Adjacency,
        Approx as Approx,
        BadInput as BadInput,
        BudgetExceeded as BudgetExceeded,
        CannotAdd as CannotAdd,
        Cryptographic as Cryptographic,
        Estimator as Estimator,
        Event as Event,
        Guarantee as Guarantee,
        LimitedPrecision as LimitedPrecision,
        Loss as Loss,
        Measured as Measured,
        Mechanism as Mechanism,
        Metric as Metric,
        NoPromise as NoPromise,
        Pure as Pure,
        Refused as Refused,
        Release as Release,
        ReleaseFolder as ReleaseFolder,
        Renyi as Renyi,
        Shape as Shape,
        TextveilError as TextveilError,
        Unit as Unit,
        UnrecordedWarning as UnrecordedWarning,
        Utility as Utility,
    )
    from .text import vectors as vectors
    from .verbs import *  # noqa: F403
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "": (
                "accounting attacks core counts federated fragments hashed mpc nets noise pii recipes report reproduce "
                "testing text training words"
            ),
            "accounting": "Ledger",
            "attacks": "CountsSeen Evidence Exposure ModelSeen TableSeen TwoWorlds WordsSeen",
            "core": (
                "Adjacency Approx BadInput BudgetExceeded CannotAdd Cryptographic Estimator Event Guarantee LimitedPrecision "
                "Loss Measured Mechanism Metric NoPromise Pure Refused Release ReleaseFolder Renyi Shape TextveilError Unit "
                "UnrecordedWarning Utility ZCDP"
            ),
            "text": "vectors",
            "verbs": " ".join(VERBS),
        },
        "__version__",
    )
