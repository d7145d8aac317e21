"""A command line that runs in this process and keeps what it prints."""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

import pytest

from textveil.cli import run


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def next_step(self) -> list[str]:
        """The arguments of the command that is printed for what comes next."""
        (line,) = [line for line in self.out.splitlines() if line.startswith("next:")]
        command = shlex.split(line.removeprefix("next:"))
        assert command[0] == "textveil"
        return command[1:]


@pytest.fixture
def textveil(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> Said:
        code = run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return command
