"""`-` as IN: what is piped in is veiled like a file, leaves nothing behind, and a stopped run goes on."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from journeys.runs import _HELD, done_parts
from waiting import GENEROUS, wait_until

from textveil.accounting import Ledger
from textveil.text.spool import spool

SECRET = "Zebulon"
ROWS = f"id;text\n1;{SECRET} owes the bank a letter\n2;a letter came\n".encode()
VEIL = ("veil", "-", "-o", "out", "--epsilon", 0.5, "--ledger", "r.ledger")


@pytest.fixture
def piped(textveil, monkeypatch, tmp_path):
    """A command with something piped into it; files of its own for what it keeps meanwhile."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))

    def command(data: bytes, *arguments: object):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        return textveil(*arguments)

    return command


def texts_left(folder: Path) -> list[str]:
    """Files with content; links to what has no name hold none of their own."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def test_what_is_piped_in_is_veiled(piped, textveil, tmp_path):
    said = piped(ROWS, *VEIL, "--format", "csv", "--only-text")
    assert said.code == 0, said
    assert "stdin.csv: read as csv, delimiter ';'" in said.err
    assert said.next_step[-2:] == ["--truth", "FILE"]
    assert len(Path("out/data.csv").read_text().splitlines()) == 3
    assert texts_left(tmp_path / "tmp") == []
    Path("in.csv").write_bytes(ROWS)
    assert textveil("audit", "out", "--truth", "in.csv", "--attack", "words.nearest").code == 0


@pytest.mark.parametrize(
    ("data", "arguments", "message"),
    [
        (ROWS, (), "its format must be said; possible: --format"),
        (ROWS, ("--format", "xlsx"), "unknown format 'xlsx'"),
        (b"", ("--format", "csv"), "is empty"),
        (ROWS, ("--format", "jsonl"), "is not valid JSON"),
    ],
)
def test_what_cannot_be_read_leaves_nothing(piped, tmp_path, data, arguments, message):
    said = piped(data, *VEIL, *arguments)
    assert said.code == 2 and message in said.err and SECRET not in said.err
    assert not Path("out").exists() and not Path("r.ledger").exists()
    assert texts_left(tmp_path / "tmp") == []


def test_a_terminal_is_refused(tmp_path):
    terminal = SimpleNamespace(isatty=lambda: True)
    with pytest.raises(ValueError, match="standard input: is a terminal"):
        spool(terminal, "csv")


def test_the_output_is_not_a_stream(textveil):
    Path("in.txt").write_text("a letter\n")
    said = textveil("veil", "in.txt", "-o", "-", "--epsilon", 0.5)
    assert said.code == 2 and "standard output cannot be; possible: -o OUT" in said.err
    assert [path.name for path in Path().iterdir()] == ["in.txt"]


def test_counts_of_what_is_piped_in(piped):
    assert (
        piped(ROWS, "counts", "-", "-o", "counted", "--epsilon", 1, "--format", "csv", "--text-field", "text").code == 0
    )


def test_a_killed_run_leaves_no_text_and_goes_on(piped, tmp_path):
    data = b"".join(
        json.dumps({"text": f"{SECRET} owes the bank a letter " * 3}).encode() + b"\n" for _ in range(15_000)
    )
    Path("in.jsonl").write_bytes(data)
    command = [*map(str, VEIL), "--format", "jsonl"]
    with open("in.jsonl", "rb") as source, open("said", "w") as said:
        run = subprocess.Popen(
            [sys.executable, "-c", _HELD, *command],
            stdin=source,
            stdout=said,
            stderr=said,
            env={**os.environ, "TMPDIR": "tmp"},
        )
        wait_until(lambda: done_parts() or run.poll() is not None)
        assert run.poll() is None, Path("said").read_text()
        os.kill(run.pid, signal.SIGKILL)
        run.wait(GENEROUS)
    assert texts_left(tmp_path / "tmp") == []
    assert not any(link.exists() for link in Path("tmp").rglob("stdin.jsonl"))  # a link that leads nowhere
    done = len(done_parts())
    assert done
    assert piped(data, *command).code == 0
    assert len(Ledger("r.ledger", must_exist=True).entries()) == 1
    assert len(Path("out/data.jsonl").read_text().splitlines()) == 15_000
