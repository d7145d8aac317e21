"""The wheel has every file of the package and nothing else. `make wheel-check` also installs it and runs the demo."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("wheel_check", ROOT / "scripts" / "wheel_check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel(script, tmp_path_factory):
    try:
        return script.build(tmp_path_factory.mktemp("wheel"))
    except SystemExit as error:
        if "Could not find a version" in str(error) or "No matching distribution" in str(error):
            pytest.skip("setuptools cannot be fetched here")
        raise


def test_the_wheel_is_complete(script, wheel):
    assert script.faults(wheel) == []


def test_a_file_that_is_missing_would_be_seen(script, wheel, tmp_path):
    cut = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(cut, "w") as out:
        for name in whole.namelist():
            if not name.endswith("english.tvv"):
                out.writestr(name, b"")
        out.writestr("textveil/left_over.py", b"")
        out.writestr("tests/conftest.py", b"")
    assert script.faults(cut) == [
        "missing: textveil/text/default/english.tvv",
        "does not belong there: textveil/left_over.py",
        "outside of the package: tests/conftest.py",
    ]


def test_it_declares_what_pip_resolves(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    extras = {line.partition(": ")[2] for line in metadata.splitlines() if line.startswith("Provides-Extra")}
    assert {"all", "fast", "hashed", "training", "topics", "pii", "web", "ray"} <= extras
    everything = next(line for line in metadata.splitlines() if line.startswith("Requires-Dist: textveil["))
    assert "mpc" not in everything.partition(";")[0]
