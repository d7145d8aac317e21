"""What a release says of its parameters is decided by `public_params`, also for mechanisms that are no estimators of ours."""

from __future__ import annotations

import json

import numpy as np
import pytest

import textveil as tv
from textveil.core import registry
from textveil.core.estimator import public_params_of


class Plain:
    """A mechanism of somebody else, with parameters only."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        return {"epsilon": 0.5, "seed": 71_717, "rows": object()}


class Choosing(Plain):
    """One that says itself what may be shown."""

    def public_params(self) -> dict[str, object]:
        return {"epsilon": 0.5}


def test_the_seed_and_the_content_of_objects_are_never_shown():
    assert public_params_of(Plain()) == {"epsilon": 0.5, "rows": "object"}
    assert public_params_of(object()) == {}


def test_what_a_mechanism_chooses_is_what_is_shown():
    assert public_params_of(Choosing()) == {"epsilon": 0.5}


@pytest.mark.parametrize(
    "name", [name for name in registry.names("mechanism") if name.startswith(("words.", "counts."))]
)
def test_no_registered_mechanism_shows_its_seed(name):
    mechanism = registry.make("mechanism", name, epsilon=0.5, seed=71_717)
    shown = public_params_of(mechanism)
    assert "seed" not in shown
    assert "71717" not in str(shown)


NUMPY = {
    "words": (lambda: tv.words.BRR(epsilon=np.float64(0.5), bits=np.int64(256)), ["a day"]),
    "counts": (
        lambda: tv.counts.LimitedPrecision(epsilon=np.float32(1.0), precision=np.int64(5)),
        np.eye(3, dtype=int),
    ),
}


@pytest.mark.parametrize("name", NUMPY)
def test_numbers_of_numpy_are_saved_like_any_other(name, tmp_path):
    made, data = NUMPY[name]
    release = tv.Ledger(tmp_path / "l.ledger").release(made(), data, tv.Shape())
    shown = json.loads((release.save(tmp_path / "out") / "release.json").read_text())["parameters"]
    assert shown["epsilon"] in (0.5, 1.0)
    assert {type(shown[name]) for name in ("bits", "precision") if name in shown} == {int}


def test_a_model_shows_numbers_of_numpy_as_numbers():
    shown = tv.training.Classifier(epsilon=np.float64(2.0), batch=np.int64(64)).public_params()
    assert json.loads(json.dumps(shown))["batch"] == 64
