"""Masking needs the memory of its people and values, not of its file (bench/pii_memory.py does the same at 100 MB)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench" / "pii_memory.py"
GROWTH = 8  # MB; holding the larger file would take more than 20


def test_memory_does_not_grow_with_the_file():
    import json

    ended = subprocess.run(
        [sys.executable, str(BENCH), "--megabytes", "12"], capture_output=True, text=True, check=True
    )
    small, large = json.loads(ended.stdout.splitlines()[-1])["peaks"].values()
    assert large - small < GROWTH
