"""Errors as other libraries catch them."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from textveil.core.errors import BadInput, BadParameter, NotFitted, UnknownName, not_fitted


@pytest.mark.parametrize(
    "error", [BadInput("is bad", where="a.csv"), BadParameter("k", 0, "1 or more"), UnknownName("verb", "a", ["b"])]
)
def test_bad_input_is_a_value_error(error):
    assert isinstance(error, ValueError)


def test_an_unfitted_estimator_is_what_scikit_learn_calls_it():
    exceptions = pytest.importorskip("sklearn.exceptions")
    error = not_fitted([], "fit(texts)")
    assert isinstance(error, NotFitted)
    assert isinstance(error, exceptions.NotFittedError)
    assert str(error) == "list has not been fitted; possible: fit(texts)"


def test_an_unfitted_estimator_survives_a_worker_process():
    pytest.importorskip("sklearn.exceptions")
    twin = pickle.loads(pickle.dumps(not_fitted([])))
    assert type(twin) is type(not_fitted([]))
    assert str(twin) == str(not_fitted([]))


def test_the_error_loads_nothing():
    asked = "import sys; from textveil.core.errors import not_fitted; print(not_fitted([]), 'sklearn' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "list has not been fitted; possible: fit first False"
