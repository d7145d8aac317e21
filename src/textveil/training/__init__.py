"""Training under differential privacy: plan, price, engine, vocabulary, and the estimators built on them.

Names are loaded when they are asked for; torch only with the engine and the estimators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .calibrate import calibrated as calibrated
    from .classifier import Classifier as Classifier
    from .clipping_explicit import verify as verify
    from .engine import (
        History as History,
        PrivateTrainer as PrivateTrainer,
        Progress as Progress,
    )
    from .hf_trainer import Trainer as Trainer
    from .language_model import LanguageModel as LanguageModel
    from .one_budget import OneBudget as OneBudget
    from .plan import (
        Phase as Phase,
        TrainingPlan as TrainingPlan,
        steps_for as steps_for,
    )
    from .saved import (
        ReleasedVocabulary as ReleasedVocabulary,
        load as load,
    )
    from .tagger import Tagger as Tagger
    from .translation import Translation as Translation
    from .units import units_of as units_of
    from .vocabulary import (
        Noising as Noising,
        Vocabulary as Vocabulary,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "calibrate": "calibrated",
            "classifier": "Classifier",
            "clipping_explicit": "verify",
            "engine": "History PrivateTrainer Progress",
            "hf_trainer": "Trainer",
            "language_model": "LanguageModel",
            "one_budget": "OneBudget",
            "plan": "Phase TrainingPlan steps_for",
            "saved": "ReleasedVocabulary load",
            "tagger": "Tagger",
            "translation": "Translation",
            "units": "units_of",
            "vocabulary": "Noising Vocabulary",
        },
    )
