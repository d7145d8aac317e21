"""`mypy --strict` passes on a user's script, and really looks at Textveil's types."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "user_script.py"
MISTAKES = """\
import textveil as tv

tv.words.BRR(epsilom=0.5)
tv.veil("notes.csv", "out", case="shout")
tv.veil("notes.csv", "out").gaurantee
tv.counts.LimitedPrecison()
x: int = tv.words.BRR().guarantee_
reveal_type(tv.train_tagger)
tv.training.Tagger(epsilom=1.0)
"""


def test_a_users_script_is_typed(tmp_path):
    wrong = tmp_path / "mistakes.py"
    wrong.write_text(MISTAKES, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null", "--cache-dir", str(tmp_path)]
    done = subprocess.run([*command, str(SCRIPT), str(wrong)], capture_output=True, text=True, cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if re.match(r"\S+\.py:\d+: (error|note)", line)]
    assert not [line for line in lines if "user_script.py" in line], done.stdout
    errors = {int(line.split(":")[1]) for line in lines if ": error:" in line}
    assert errors == {3, 4, 5, 6, 7, 9}, done.stdout
    assert any("ReleaseFolder" in line and "epsilon" in line for line in lines if line.split(":")[1] == "8"), (
        done.stdout
    )
