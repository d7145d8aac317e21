"""Tab completion: verbs and options in bash, zsh and fish, and in a bash that has loaded what --show-completion prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
import typer.main

from textveil.cli import app

TOP = typer.main.get_command(app)
COMMAND = [sys.executable, "-m", "textveil"]


def completed(shell: str, line: str) -> str:
    """What the shell is told for the word under the cursor, which is the last one of the line."""
    words = line.split(" ")
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    environment = {**os.environ, **asked, "_TEXTVEIL_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_all_verbs_are_offered(shell: str) -> None:
    offered = completed(shell, "textveil ")
    for verb in TOP.commands:  # type: ignore[attr-defined]
        assert verb in offered
    inner = completed(shell, "textveil train ")
    for verb in TOP.commands["train"].commands:  # type: ignore[attr-defined]
        assert verb in inner


def test_options_and_their_choices_are_offered() -> None:
    assert completed("bash", "textveil veil in.csv --nul").split() == ["--nulls"]
    assert completed("bash", "textveil veil in.csv --nulls ").split() == ["keep", "refuse"]
    assert "--delimiter" in completed("zsh", "textveil counts in.csv --del")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_bash_that_has_loaded_the_script_completes() -> None:
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # a test runner has no shell above it
    command = [*COMMAND, "--show-completion", "bash"]
    script = subprocess.run(command, capture_output=True, text=True, check=True, env=named).stdout
    assert "_TEXTVEIL_COMPLETE=complete_bash" in script
    asked = f"""{script}
textveil() {{ {sys.executable} -m textveil "$@"; }}
env() {{ command env "${{@:1:$#-1}}" {sys.executable} -m textveil; }}
COMP_WORDS=(textveil vei); COMP_CWORD=1
_textveil_completion textveil
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert done.stdout.split() == ["veil"], done.stderr
