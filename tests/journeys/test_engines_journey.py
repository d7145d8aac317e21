"""`textveil veil` with several workers and on Ray: the same release, only sooner; interrupted, resumed, charged once."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from journeys.runs import HeldRun, done_parts
from waiting import wait_until

from textveil.text import sample, tokens
from textveil.text.vectors import load

SECRET = "Zebulon"
VEIL = ("--epsilon", "0.5", "--vectors", "few.tvv")


def write_letters(name: str, copies: int) -> Path:
    rows = [r | {"text": f"{SECRET}: {r['text']}"} for r in sample.letters()] * copies
    Path(name).write_text("".join(json.dumps(r | {"id": i}) + "\n" for i, r in enumerate(rows)))
    return Path(name)


def rows(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def ids(path: str) -> list[int]:
    return [row["id"] for row in rows(path)]


@pytest.fixture(autouse=True)
def few_words(textveil):
    """Drawing among 500 words is quick."""
    load("default", limit=500).save("few.tvv")


def test_two_workers_make_the_same_draft(textveil):
    source = write_letters("in.jsonl", copies=30)
    records = len(sample.letters()) * 30
    for out, workers in (("one", 1), ("two", 2)):
        options = (*VEIL, "--seed", 5, "--workers", workers, "--json")
        said = textveil("veil", source, "-o", out, *options)
        assert said.code == 0, said.err
        assert said.json["records"] == records
        assert said.json["words"] == sum(len(tokens.words(row["text"])) for row in rows("in.jsonl"))
    assert Path("one/data.jsonl").read_bytes() == Path("two/data.jsonl").read_bytes()
    assert ids("two/data.jsonl") == list(range(records))


def test_two_workers_charge_once_and_keep_the_order(textveil):
    source = write_letters("in.jsonl", copies=30)
    said = textveil("veil", source, "-o", "out", *VEIL, "--ledger", "r.ledger", "--workers", 2)
    assert said.code == 0, said.err
    assert ids("out/data.jsonl") == ids("in.jsonl")
    assert textveil("ledger", "show", "r.ledger", "--json").json["charges"] == 1
    assert SECRET not in Path("out/data.jsonl").read_text()


def left_of(group: int) -> list[int]:
    """Processes of a group that are still alive although it has ended, and they had time to notice."""
    wait_until(lambda: not members_of(group))
    return members_of(group)


def members_of(group: int) -> list[int]:
    """Processes of a group that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
COMMAND = ["veil", "in.jsonl", "-o", "out", *VEIL, "--ledger", "r.ledger", "--workers", "2"]


@needs_proc
def test_a_killed_run_leaves_no_workers_and_is_taken_up(textveil):
    write_letters("in.jsonl", copies=200)
    run = HeldRun(*COMMAND)
    run.kill()
    assert left_of(run.group) == []  # the workers noticed
    kept = [part.read_text() for part in done_parts()]
    assert textveil(*COMMAND).code == 0
    assert textveil("ledger", "show", "r.ledger", "--json").json["charges"] == 1
    assert ids("out/data.jsonl") == ids("in.jsonl")
    released = Path("out/data.jsonl").read_text()
    assert kept
    assert all(part in released for part in kept)  # what was done was not drawn again


@needs_proc
def test_an_interrupted_run_ends_its_workers_and_keeps_what_is_done(textveil):
    write_letters("in.jsonl", copies=200)
    run = HeldRun(*COMMAND)
    run.interrupt()
    assert run.end() == 130
    assert "Traceback" not in run.said
    assert "textveil: stopped" in run.said
    assert left_of(run.group) == []
    assert done_parts()
    assert not Path("out").exists()


def test_two_files_in_parallel_and_two_workers(textveil):
    lines = [r["text"].replace("\n", " ") for r in sample.letters()] * 40
    Path("mail.en").write_text("".join(f"{line}\n" for line in lines))
    Path("mail.xx").write_text("".join(f"{line.upper()}\n" for line in lines))
    said = textveil("veil", "mail.en+xx", "-o", "out", *VEIL, "--workers", 2)
    assert said.code == 0, said.err
    for side in ("en", "xx"):
        assert len(Path(f"out/data.{side}").read_text().splitlines()) == len(lines)
    assert sorted(p.name for p in Path("out").iterdir()) == ["card.html", "data.en", "data.xx", "release.json"]


def test_bad_engines(textveil):
    write_letters("in.jsonl", copies=1)
    for wrong in (["--engine", "spark"], ["--workers", "0"], ["--address", "auto"]):
        said = textveil("veil", "in.jsonl", "-o", "out", *VEIL, *wrong)
        assert said.code == 2
        assert said.err.count("\n") == 1
    assert sorted(p.name for p in Path().iterdir()) == ["few.tvv", "in.jsonl"]


@pytest.mark.slow
@needs_proc
def test_ray_makes_the_same_draft_and_survives_a_dead_worker(textveil, monkeypatch):
    pytest.importorskip("ray.data")
    write_letters("in.jsonl", copies=200)
    command = ["veil", "in.jsonl", *VEIL, "--seed", "5"]
    monkeypatch.setenv("TMPDIR", "/tmp")
    before = set(Path("/tmp").glob("veil-*"))
    run = HeldRun(*command, "-o", "out", "--engine", "ray", "--workers", "2", "--json")
    os.kill(ray_workers(run.group)[0], signal.SIGKILL)
    run.let_go()
    assert run.end() == 0, run.said
    notices, brace, result = run.said.partition("{")
    assert json.loads(brace + result)["records"] == len(ids("in.jsonl"))
    assert all(line.startswith(("vectors:", "beware:")) for line in notices.splitlines()), notices  # none of Ray
    assert textveil(*command, "-o", "local").code == 0
    assert Path("out/data.jsonl").read_bytes() == Path("local/data.jsonl").read_bytes()
    assert set(Path("/tmp").glob("veil-*")) == before  # Ray's folder is gone


def ray_workers(session: int) -> list[int]:
    """Actors of the run: Ray writes into their titles what they are."""
    found = []
    for title in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            ours = os.getsid(int(title.parent.name)) == session
            if ours and b"MapWorker" in title.read_bytes():
                found.append(int(title.parent.name))
        except OSError:
            continue
    return found
