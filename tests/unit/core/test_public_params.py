"""What a release says of its parameters is decided by `public_params`, also for mechanisms that are no estimators of ours."""

from __future__ import annotations

import pytest

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
