"""Extraction models in a hash table: features of contracts, a sequence model, the seal that fills every slot, its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .decode import Span as Span
    from .extractor import (
        Extractor as Extractor,
        load as load,
    )
    from .features import slots_of as slots_of
    from .kinds import TableKind as TableKind
    from .plan import FeaturePlan as FeaturePlan
    from .seal import SealPlan as SealPlan
    from .segments import tokenize as tokenize
    from .sound import SoundTrainer as SoundTrainer
    from .sound_plan import SoundPlan as SoundPlan
    from .table import WeightTable as WeightTable
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "decode": "Span",
            "extractor": "Extractor load",
            "features": "slots_of",
            "kinds": "TableKind",
            "plan": "FeaturePlan",
            "seal": "SealPlan",
            "segments": "tokenize",
            "sound": "SoundTrainer",
            "sound_plan": "SoundPlan",
            "table": "WeightTable",
        },
    )
