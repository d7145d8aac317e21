"""Training under differential privacy: plan, price, engine, vocabulary, and the estimators built on them.

Names are loaded when they are asked for; torch only with the engine and the estimators.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Phase": "plan",
    "Plan": "plan",
    "steps_for": "plan",
    "calibrated": "calibrate",
    "PrivateTrainer": "engine",
    "History": "engine",
    "Progress": "engine",
    "verify": "clipping_explicit",
    "Tagger": "tagger",
    "Classifier": "classifier",
    "LanguageModel": "language_model",
    "Trainer": "hf_trainer",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"textveil.training has no '{name}'")
    return getattr(importlib.import_module(f"textveil.training.{_HOMES[name]}"), name)
