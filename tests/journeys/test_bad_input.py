"""Mistakes on purpose: one sentence, the right exit code, nothing left behind, nothing charged, no private text."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path

import pytest
from journeys.runs import HeldRun

SECRET = "Zebulon"


def good_line() -> str:
    return json.dumps({"id": 1, "text": f"{SECRET} owes the bank a letter"}) + "\n"


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


BAD_FILES = {
    "missing": (lambda: "nowhere.jsonl", "nowhere.jsonl"),
    "empty": (lambda: write("in.jsonl", ""), "in.jsonl"),
    "not utf-8": (lambda: write("in.jsonl", good_line().encode() + b'{"text": "\xff\xfe"}\n'), "line 2"),
    "bad json": (lambda: write("in.jsonl", good_line() * 41 + '{"text": \n'), "line 42"),
    "missing field": (lambda: write("in.jsonl", good_line() + '{"id": 2}\n'), "field 'text'"),
    "a number": (lambda: write("in.jsonl", good_line() + "17\n"), "line 2"),
    "a folder": (lambda: (os.mkdir("in.jsonl"), "in.jsonl")[1], "in.jsonl"),
    "unknown extension": (lambda: write("in.xyz", good_line()), "in.xyz"),
    "cut gzip": (lambda: write("in.jsonl.gz", gzip.compress(good_line().encode() * 9)[:-9]), "in.jsonl.gz"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(textveil, case):
    make, named = BAD_FILES[case]
    said = textveil("veil", make(), "-o", "out", "--epsilon", 0.5, "--text-field", "text", "--ledger", "r.ledger")
    assert said.code == 2 and named in said.err
    assert said.err.startswith("textveil: ") and said.err.count("\n") == 1
    assert SECRET not in said.err + said.out
    assert not {p.name for p in Path().iterdir()} - {"in.jsonl", "in.xyz", "in.jsonl.gz"}


def test_bad_json_far_down(textveil):
    write("in.jsonl", '{"text": "a"}\n' * 1_234_566 + '{"text": a}\n')
    said = textveil("veil", "in.jsonl", "-o", "out", "--epsilon", 0.5, "--ledger", "r.ledger")
    assert said.code == 2 and "line 1234567" in said.err
    assert [p.name for p in Path().iterdir()] == ["in.jsonl"]


def test_a_giant_line(textveil):
    write("in.jsonl", good_line() + json.dumps({"text": SECRET * 7_200_000}) + "\n")  # 50 MB
    said = textveil("veil", "in.jsonl", "-o", "out", "--epsilon", 0.5)
    assert said.code == 2 and "line 2" in said.err and "--max-line-mb" in said.err and SECRET not in said.err


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "many"])
def test_bad_epsilon(textveil, epsilon):
    write("in.jsonl", good_line())
    said = textveil("veil", "in.jsonl", "-o", "out", "--epsilon", epsilon, "--ledger", "r.ledger")
    assert said.code == 2 and "epsilon" in said.err.lower()
    assert [p.name for p in Path().iterdir()] == ["in.jsonl"]


def test_unknown_mechanism_lists_the_nearest_first(textveil):
    write("in.jsonl", good_line())
    said = textveil("veil", "in.jsonl", "-o", "out", "--mechanism", "words.bbr", "--epsilon", 1)
    assert said.code == 2 and "there are: words.brr, " in said.err


def test_a_parameter_the_mechanism_does_not_have(textveil):
    write("in.jsonl", good_line())
    said = textveil("veil", "in.jsonl", "-o", "out", "--mechanism", "words.laplace", "--epsilon", 1, "--bits", 64)
    assert said.code == 2 and "no parameter 'bits'" in said.err


def test_output_that_exists_or_cannot_be_made(textveil):
    write("in.jsonl", good_line())
    write("taken", "x")
    for out in ("taken", "taken/below"):
        said = textveil("veil", "in.jsonl", "-o", out, "--epsilon", 1, "--ledger", "r.ledger")
        assert said.code == 2 and "taken" in said.err and not Path("r.ledger").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_output_folder_without_permission(textveil):
    write("in.jsonl", good_line())
    os.mkdir("closed", mode=0o500)
    assert textveil("veil", "in.jsonl", "-o", "closed/out", "--epsilon", 1, "--ledger", "r.ledger").code == 2
    assert not Path("r.ledger").exists()


def test_full_disk_keeps_the_charge_and_leaves_no_output(textveil, monkeypatch):
    from textveil.text.atomic import AtomicFile

    def full(self, *args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write("in.jsonl", good_line())
    monkeypatch.setattr(AtomicFile, "write", full)
    said = textveil("veil", "in.jsonl", "-o", "out", "--epsilon", 1, "--ledger", "r.ledger")
    assert said.code == 2 and "o space left" in said.err
    assert sorted(p.name for p in Path().iterdir()) == ["in.jsonl", "r.ledger"]
    assert len(textveil("ledger", "show", "r.ledger", "--json").json["totals"]) == 1


def test_missing_arguments(textveil):
    assert textveil("veil").code == 2
    assert "epsilon is missing" in textveil("veil", "in.jsonl", "-o", "out").err
    assert textveil("nonsense").code == 2


def test_truth_of_another_length(textveil):
    write("in.jsonl", good_line() * 3)
    assert textveil("veil", "in.jsonl", "-o", "out", "--epsilon", 0.5).code == 0
    write("short.jsonl", good_line())
    assert "fewer records" in textveil("audit", "out", "--truth", "short.jsonl").err
    assert textveil("audit", "nowhere").code == 2


def test_an_unexpected_error_shows_no_values(textveil, monkeypatch):
    from textveil.words.brr import BRR

    def fail(self, *args, **kwargs):
        raise RuntimeError(f"{SECRET} is in this message")

    write("in.jsonl", good_line())
    monkeypatch.setattr(BRR, "apply", fail)
    said = textveil("veil", "in.jsonl", "-o", "out", "--epsilon", 0.5)
    assert said.code == 3 and SECRET not in said.err and "RuntimeError" in said.err
    assert [p.name for p in Path().iterdir()] == ["in.jsonl"]


def test_a_killed_run_is_taken_up_and_not_charged_again(textveil):
    """Killed with SIGKILL while drawing; the same command finishes it under the same ledger line."""
    write("in.jsonl", good_line() * 30_000)
    command = ["veil", "in.jsonl", "-o", "out", "--epsilon", "0.5", "--ledger", "r.ledger"]
    HeldRun(*command).kill()
    assert Path(".out.unfinished").is_dir()
    assert not Path("out").exists()
    other = textveil("veil", "in.jsonl", "-o", "out", "--epsilon", "0.7", "--ledger", "r.ledger")
    assert other.code == 2
    assert "another command" in other.err
    assert textveil(*command).code == 0
    assert textveil("ledger", "show", "r.ledger", "--json").json["charges"] == 1
    assert Path("out/data.jsonl").read_text().count("\n") == 30_000
    assert not Path(".out.unfinished").exists()
