"""`help(tv.words.BRR)` explains every parameter, and none that there is not."""

from __future__ import annotations

import inspect
import re

import pytest

import textveil
from textveil.core.estimator import Estimator
from textveil.core.explained import parameters_of

ROOMS = ("words", "counts", "hashed", "pii", "attacks")
TRAINING = ("Classifier", "LanguageModel", "Tagger", "Vocabulary")
FEDERATED = ("Central", "DPFTRL", "DPFedAvg", "FedAvg", "FedSGD", "Remote")


def estimators() -> list[type[Estimator]]:
    things = [getattr(getattr(textveil, room), name) for room in ROOMS for name in getattr(textveil, room).__all__]
    things += [getattr(textveil.training, name) for name in TRAINING]
    things += [getattr(textveil.federated, name) for name in FEDERATED]
    return [thing for thing in things if inspect.isclass(thing) and issubclass(thing, Estimator)]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda e: e.__name__)
def test_every_parameter_is_explained(estimator):
    names = estimator._parameter_names()
    explained = parameters_of(inspect.getdoc(estimator))
    if names:  # a base without a constructor explains for those that have one
        assert list(explained) == names
    for name, text in explained.items():
        assert len(text) > 8, name
        assert re.match(r'[A-Z"`]|\w+: ', text), f"{name}: {text}"  # a sentence, or the variant that it is about
        assert text.rstrip().endswith((".", ")")), f"{name}: {text}"


@pytest.mark.torch
def test_the_trainer_is_explained_too():
    test_every_parameter_is_explained(textveil.training.Trainer)


def test_most_estimators_were_asked():
    assert len(estimators()) >= 30
