"""Runs that were stopped, killed or started twice: nothing of another column, another draw or another run leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from journeys.runs import HeldRun, done_parts
from waiting import GENEROUS, wait_until

from textveil.accounting import Ledger

ROWS = 30_000
NOTE, SECRET = "the bank owes a letter", "Zebulon lives in Bern"
COMMAND = ["veil", "in.jsonl", "-o", "out", "--epsilon", "0.5", "--ledger", "r.ledger"]
ON_NOTE = [*COMMAND, "--text-field", "note"]


def write_two_columns(name: str = "in.jsonl", rows: int = ROWS) -> None:
    """Texts of different lengths in the two columns, so that parts of one are cut elsewhere than parts of the other."""
    with open(name, "w") as out:
        for n in range(rows):
            out.write(json.dumps({"note": NOTE * (1 + n % 3), "secret": SECRET * (3 - n % 3)}) + "\n")


def charges() -> int:
    return len(Ledger("r.ledger", must_exist=True).entries())


def records(path: str = "out/data.jsonl") -> list[dict]:
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def interrupted(*command: str) -> None:
    run = HeldRun(*command)
    run.interrupt()
    assert run.end() == 130


def killed(*command: str) -> None:
    HeldRun(*command).kill()


def names_in(folder: str) -> set[str]:
    return {path.name for path in Path(folder).rglob("*")}


@pytest.mark.parametrize("stop", [interrupted, killed])
def test_a_run_on_one_column_does_not_go_on_with_another(textveil, stop):
    write_two_columns()
    stop(*ON_NOTE)
    other = textveil(*COMMAND, "--text-field", "secret")
    assert other.code == 2
    assert "another command" in other.err
    assert not Path("out").exists()
    assert charges() == 1
    assert textveil(*ON_NOTE, "--columns", "note").code == 2  # other columns would leave: another run too
    assert textveil(*ON_NOTE).code == 0
    assert charges() == 1
    assert [row["secret"] for row in records()] == [row["secret"] for row in records("in.jsonl")]
    assert len(records()) == ROWS


def test_a_run_does_not_go_on_with_another_column_that_holds_the_same_texts(textveil):
    """Half of each column would be veiled, and the other half of it stand in clear in the other."""
    Path("in.jsonl").write_text("".join(json.dumps({"note": NOTE, "copy": NOTE}) + "\n" for _ in range(ROWS)))
    interrupted(*ON_NOTE)
    said = textveil(*COMMAND, "--text-field", "copy")
    assert said.code == 2
    assert "another command" in said.err
    assert not Path("out").exists()


@pytest.mark.parametrize("change", ["a file of that name elsewhere", "other rows", "another order"])
def test_a_run_does_not_go_on_with_other_data(textveil, change):
    write_two_columns()
    interrupted(*ON_NOTE)
    rows = Path("in.jsonl").read_text().splitlines(keepends=True)
    if change == "a file of that name elsewhere":
        Path("elsewhere").mkdir()
        shutil.copy2("in.jsonl", "elsewhere/in.jsonl")  # with its time
        said = textveil("veil", "elsewhere/in.jsonl", *ON_NOTE[2:])
    else:
        before = os.stat("in.jsonl")
        changed = [rows[0].replace("bank", "lake"), *rows[1:]] if change == "other rows" else rows[::-1]
        Path("in.jsonl").write_text("".join(changed))
        os.utime("in.jsonl", ns=(before.st_atime_ns, before.st_mtime_ns))  # size and time tell nothing
        said = textveil(*ON_NOTE, "--other-data")
    assert said.code == 2
    assert "another command" in said.err
    assert not Path("out").exists()
    assert charges() == 1


def test_no_record_is_lost_or_added_while_the_file_is_read(textveil, monkeypatch):
    from textveil.recipes.words import veil

    write_two_columns(rows=50)
    survey = veil.survey
    monkeypatch.setattr(veil, "survey", lambda *given: survey(*given) + 1)
    said = textveil(*ON_NOTE)
    assert said.code == 2
    assert "changed while it was read" in said.err
    assert not Path("out").exists()


_KILLED_AT_A_SYNC = """
import os, signal, sys
from textveil.cli import main

sync = os.fsync

def killed(handle):
    name = os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))
    if "part-000001" in name:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(handle)

os.fsync = killed
main()
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files through /proc")
def test_a_part_that_was_killed_while_it_was_stored_is_nowhere_in_the_release(textveil):
    write_two_columns()
    run = subprocess.run([sys.executable, "-c", _KILLED_AT_A_SYNC, *ON_NOTE], capture_output=True, timeout=GENEROUS)
    assert run.returncode == -signal.SIGKILL
    strays = [path for path in Path(".out.unfinished").rglob(".*") if path.is_file()]
    assert strays  # the same records, drawn once already
    assert Path(".out.unfinished").stat().st_mode & 0o077 == 0
    half = strays[0].read_text()
    assert textveil(*ON_NOTE).code == 0
    assert charges() == 1
    assert names_in("out") == {"data.jsonl", "release.json", "card.html"}
    assert half.splitlines()[0] not in Path("out/data.jsonl").read_text()
    assert not Path(".out.unfinished").exists()


def test_what_somebody_puts_into_the_unfinished_folder_does_not_leave(textveil):
    write_two_columns()
    interrupted(*ON_NOTE)
    for place in (".", "work", "leave"):
        Path(".out.unfinished", place, "notes.txt").write_text(SECRET)
        Path(".out.unfinished", place, ".part-000001.jsonl.part").write_text(SECRET)
    assert textveil(*ON_NOTE).code == 0
    assert names_in("out") == {"data.jsonl", "release.json", "card.html"}


def test_the_same_command_twice_at_once_is_one_release_and_one_charge(textveil):
    write_two_columns()
    first = HeldRun(*ON_NOTE)
    try:
        second = textveil(*ON_NOTE)
    finally:
        first.let_go()
    assert first.end() == 0
    assert second.code == 2
    assert "another process is at work" in second.err
    assert second.err.count("\n") == 1
    assert charges() == 1
    assert len(records()) == ROWS
    assert names_in(".") == {"in.jsonl", "r.ledger", "out", "data.jsonl", "release.json", "card.html", "said", "go-on"}
    third = textveil(*ON_NOTE)
    assert third.code == 2
    assert charges() == 1


def test_of_many_started_at_once_exactly_one_releases(textveil):
    write_two_columns(rows=2_000)
    runs = [
        subprocess.Popen([sys.executable, "-m", "textveil", *ON_NOTE], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    codes = sorted(run.wait(timeout=GENEROUS) for run in runs)
    said = [run.communicate()[1].decode() for run in runs]
    assert codes == [0, 2, 2, 2], said
    assert charges() == 1
    assert len(records()) == 2_000
    assert wait_until(lambda: not Path(".out.unfinished").exists())


@pytest.mark.parametrize("fate", ["deleted", "replaced"])
def test_a_run_does_not_go_on_under_a_ledger_that_lost_its_charge(textveil, fate):
    write_two_columns()
    interrupted(*ON_NOTE)
    kept = Path("r.ledger").read_bytes()
    Path("r.ledger").unlink()
    if fate == "replaced":
        Ledger.new("r.ledger")
    said = textveil(*ON_NOTE)
    assert said.code == 1
    assert "no longer holds the charge" in said.err
    assert not Path("out").exists()
    assert done_parts()
    assert Path("r.ledger").exists() == (fate == "replaced")  # none is made in its place
    Path("r.ledger").write_bytes(kept)
    assert textveil(*ON_NOTE).code == 0
    entry = json.loads(Path("out/release.json").read_text())["entry"]
    assert entry in [line.id for line in Ledger("r.ledger").entries()]
    assert charges() == 1
