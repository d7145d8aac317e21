"""Fixtures of all tests. Tests that use the evaluation data are marked `data` and skipped where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def find_data() -> Path | None:
    named = os.environ.get("TEXTVEIL_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = find_data()
    if folder is None:
        pytest.skip("no evaluation data here (set TEXTVEIL_DATA to use some)")
    return folder
