"""Masking that was stopped: the same command goes on, looks at no finished part again, and is charged once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from journeys.runs import HeldRun, done_parts

from textveil.accounting import Ledger

ROWS = 1_700  # a little more than two parts
COMMAND = ["pii", "mask", "in.jsonl", "-o", "out", "--how", "pseudonym", "--text-field", "text", "--ledger", "m.ledger"]
KEYED = [*COMMAND, "--key-file", "k", "--map", "m"]


def write_letters() -> None:
    plain = "the bank letter was sent because our account has been closed " * 10
    with open("in.jsonl", "w") as out:
        for n in range(ROWS):
            out.write(json.dumps({"id": n, "text": f"Dear Dr Anna Meyer{n % 7}, {plain} a{n % 50}@example.org"}) + "\n")


def texts(path: str) -> list[str]:
    with open(path) as lines:
        return [json.loads(line)["text"] for line in lines]


@pytest.mark.parametrize("stop", ["interrupt", "kill"])
def test_the_same_command_goes_on(textveil, stop):
    write_letters()
    run = HeldRun(*KEYED)
    getattr(run, stop)()
    assert run.end() != 0
    kept = {part: part.stat().st_mtime_ns for part in done_parts()}
    assert kept
    assert b"@" not in b"".join(part.read_bytes() for part in kept)  # places, no values
    other = textveil(*KEYED, "--shift-days", "30")
    assert other.code == 2
    assert "another command" in other.err
    assert {part: part.stat().st_mtime_ns for part in kept} == kept
    Path("go-on").touch()
    assert textveil(*KEYED).code == 0
    assert len(Ledger("m.ledger", must_exist=True).entries()) == 1
    assert not list(Path(".").glob(".out*"))
    whole = textveil(
        "pii", "mask", "in.jsonl", "-o", "whole", "--how", "pseudonym", "--text-field", "text", "--key-file", "k"
    )
    assert whole.code == 0
    assert texts("out/data.jsonl") == texts("whole/data.jsonl")  # as if it had never been stopped
    assert textveil("pii", "unmask", "out", "-o", "back", "--map", "m", "--key-file", "k").code == 0


def test_finished_parts_are_not_looked_at_again(textveil, monkeypatch):
    """What the first part says is taken from disk: an emptied one leaves its records unmasked."""
    write_letters()
    run = HeldRun(*COMMAND)
    run.kill()
    (part,) = done_parts()[:1]
    count = len(part.read_bytes().splitlines())
    part.write_bytes(b"[]\n" * count)
    assert textveil(*COMMAND).code == 0
    assert texts("out/data.jsonl")[:count] == texts("in.jsonl")[:count]
    assert "@example.org" in texts("out/data.jsonl")[count]
    assert texts("out/data.jsonl")[count] != texts("in.jsonl")[count]
