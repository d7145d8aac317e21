"""The vocabulary of the house: units, losses, guarantees, events, mechanisms, releases, errors. stdlib and numpy only."""

from .errors import (
    BadInput,
    BadParameter,
    BrokenChain,
    BudgetExceeded,
    CannotAdd,
    OtherData,
    Refused,
    TextveilError,
    UnknownName,
)
from .estimator import Estimator
from .events import (
    CountNoise,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    MetricNoise,
    Noise,
    Part,
    PoissonSampled,
    Stated,
    Together,
    Unpriced,
    event_from_json,
)
from .guarantee import Guarantee
from .losses import (
    ZCDP,
    Approx,
    Cryptographic,
    LimitedPrecision,
    Loss,
    Measured,
    Metric,
    NoPromise,
    Pure,
    Renyi,
    loss_from_json,
)
from .mechanism import Mechanism
from .payload import Payload
from .release import Release, Stamp, read_manifest
from .shape import Shape
from .units import Adjacency, Unit

__all__ = [
    "ZCDP",
    "Adjacency",
    "Approx",
    "BadInput",
    "BadParameter",
    "BrokenChain",
    "BudgetExceeded",
    "CannotAdd",
    "CountNoise",
    "Cryptographic",
    "Estimator",
    "Event",
    "FixedSampled",
    "GaussianNoise",
    "Guarantee",
    "LaplaceNoise",
    "LimitedPrecision",
    "Loss",
    "Measured",
    "Mechanism",
    "Metric",
    "MetricNoise",
    "NoPromise",
    "Noise",
    "OtherData",
    "Part",
    "Payload",
    "PoissonSampled",
    "Pure",
    "Refused",
    "Release",
    "Renyi",
    "Shape",
    "Stamp",
    "Stated",
    "TextveilError",
    "Together",
    "Unit",
    "UnknownName",
    "Unpriced",
    "event_from_json",
    "loss_from_json",
    "read_manifest",
]
