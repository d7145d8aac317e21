"""A quick run cannot import torch, in its own process and in those it starts; elsewhere nothing is forbidden."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from suite import NO_TORCH, ROOT, SLOW, TORCH, is_under

FORBIDDEN = "torch was imported in a quick run"


def test_torch_is_an_error_in_a_quick_run(pytestconfig):
    if not pytestconfig.getoption("quick"):
        assert str(NO_TORCH) not in sys.path
        return
    with pytest.raises(RuntimeError, match=FORBIDDEN):
        import torch  # noqa: F401


def test_torch_is_an_error_in_processes_of_a_quick_run():
    environment = os.environ | {"PYTHONPATH": str(NO_TORCH)}
    done = subprocess.run([sys.executable, "-c", "import torch"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert FORBIDDEN in done.stderr


def test_tests_that_need_torch_are_known():
    """Files with torch at their top have to be named in the table: a quick run must not open them."""
    opening = ('torch = pytest.importorskip("torch")\n', "import torch\n", "from torch ")
    files = [file for file in (ROOT / "tests").rglob("test_*.py") if not is_under(file, TORCH)]
    needing = [f.name for f in files if any(line.startswith(opening) for line in f.read_text().splitlines(True))]
    assert needing == []


@pytest.mark.parametrize("prefix", [*TORCH, *SLOW])
def test_every_named_place_exists(prefix):
    folder, _, start = prefix.rpartition("/")
    assert any(path.name.startswith(start) for path in (ROOT / folder).iterdir())
