"""Files and ledgers with names outside ASCII, on a system whose locale knows nothing but ASCII."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def textveil(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    raw = [sys.executable.encode(), b"-m", b"textveil", *(a.encode() for a in arguments)]
    return subprocess.run(raw, env=PLAIN, capture_output=True)


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="the names of this test are UTF-8")
def test_names_outside_ascii(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Grüße.csv").write_bytes(b"text\nthe bank called\n")
    for arguments in (
        ("ledger", "new", "Kassé.ledger", "--unit", "word", "--metric", "hamming", "--epsilon", "2"),
        ("veil", "Grüße.csv", "-o", "öut", "--epsilon", "0.5", "--ledger", "Kassé.ledger", "--only-text"),
        ("ledger", "show", "Kassé.ledger"),
        ("ledger", "verify", "Kassé.ledger"),
        ("report", "."),
    ):
        done = textveil(*arguments)
        assert done.returncode == 0, done.stderr
    facts = json.loads(Path("öut/release.json").read_text(encoding="utf-8"))["facts"]
    assert facts["data"]["file"] == "Grüße.csv" and facts["spent"]["ledger"] == "Kassé"
