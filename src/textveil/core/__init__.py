"""The vocabulary of the house: units, losses, guarantees, events, mechanisms, releases, errors. stdlib and numpy only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_names

if TYPE_CHECKING:
    from .errors import (
        BadInput as BadInput,
        BadParameter as BadParameter,
        BrokenChain as BrokenChain,
        BudgetExceeded as BudgetExceeded,
        CannotAdd as CannotAdd,
        OtherData as OtherData,
        Refused as Refused,
        TextveilError as TextveilError,
        UnknownName as UnknownName,
        UnrecordedWarning as UnrecordedWarning,
    )
    from .estimator import Estimator as Estimator
    from .events import (
        CountNoise as CountNoise,
        Event as Event,
        FixedSampled as FixedSampled,
        GaussianNoise as GaussianNoise,
        LaplaceNoise as LaplaceNoise,
        MetricNoise as MetricNoise,
        Noise as Noise,
        RepeatedNoise as RepeatedNoise,
        PoissonSampled as PoissonSampled,
        Stated as Stated,
        Together as Together,
        Unpriced as Unpriced,
        event_from_json as event_from_json,
    )
    from .guarantee import (
        Guarantee as Guarantee,
        GuaranteeParts as GuaranteeParts,
    )
    from .losses import (
        ZCDP as ZCDP,
        Approx as Approx,
        Cryptographic as Cryptographic,
        LimitedPrecision as LimitedPrecision,
        Loss as Loss,
        Measured as Measured,
        Metric as Metric,
        NoPromise as NoPromise,
        Pure as Pure,
        Renyi as Renyi,
        loss_from_json as loss_from_json,
    )
    from .mechanism import Mechanism as Mechanism
    from .payload import Payload as Payload
    from .release import (
        Release as Release,
        ReleaseFolder as ReleaseFolder,
        Stamp as Stamp,
        read_manifest as read_manifest,
    )
    from .shape import Shape as Shape
    from .units import (
        Adjacency as Adjacency,
        Unit as Unit,
    )
    from .utility import Utility as Utility
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "errors": (
                "BadInput BadParameter BrokenChain BudgetExceeded CannotAdd OtherData Refused TextveilError UnknownName "
                "UnrecordedWarning"
            ),
            "estimator": "Estimator",
            "events": (
                "CountNoise Event FixedSampled GaussianNoise LaplaceNoise MetricNoise Noise RepeatedNoise PoissonSampled "
                "Stated Together Unpriced event_from_json"
            ),
            "guarantee": "Guarantee GuaranteeParts",
            "losses": (
                "Approx Cryptographic LimitedPrecision Loss Measured Metric NoPromise Pure Renyi ZCDP loss_from_json"
            ),
            "mechanism": "Mechanism",
            "payload": "Payload",
            "release": "Release ReleaseFolder Stamp read_manifest",
            "shape": "Shape",
            "units": "Adjacency Unit",
            "utility": "Utility",
        },
    )
