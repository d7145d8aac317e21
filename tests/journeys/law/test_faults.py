"""The fault injector sees every place of a toy release, and kills exactly there."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from journeys.law.faults import KILLED, count_places, run_killed

from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, Event, MetricNoise, Unit
from textveil.noise import secure

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs fork and /proc")


def toy_release(folder: Path) -> None:
    """Charge, draw, write aside, flush, rename, tidy."""
    with sqlite3.connect(folder / "toy.ledger") as ledger:
        ledger.execute("CREATE TABLE charges (note TEXT)")
        ledger.execute("INSERT INTO charges VALUES ('secret')")
    ledger.close()
    secure()
    aside = folder / "aside"
    aside.mkdir()
    with open(aside / "data", "w") as file:
        file.write("noisy")
        file.flush()
        os.fsync(file.fileno())
    os.chmod(aside / "data", 0o600)
    os.rename(aside, folder / "out")
    (folder / "scratch").mkdir()
    shutil.rmtree(folder / "scratch")


EXPECTED = [
    "sqlite3.connect toy.ledger",
    "sql CREATE toy.ledger",
    "sql BEGIN toy.ledger",
    "sql INSERT toy.ledger",
    "sql COMMIT toy.ledger",
    "Source",
    "os.mkdir aside",
    "open aside/data",
    "os.fsync aside/data",
    "os.chmod aside/data",
    "os.rename aside -> out",
    "os.mkdir scratch",
    "shutil.rmtree scratch",
    "os.rmdir scratch",
]


def test_all_places_are_counted_in_order(tmp_path):
    assert count_places(lambda: toy_release(tmp_path), tmp_path) == EXPECTED
    assert (tmp_path / "out/data").read_text() == "noisy"


def left_after(place: int, folder: Path) -> set[str]:
    folder.mkdir()
    assert run_killed(lambda: toy_release(folder), folder, place) == KILLED
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "journal" not in path.name}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_kill_leaves_what_was_done_before_its_place(name, tmp_path):
    place = EXPECTED.index(name)
    left = left_after(place, tmp_path / "run")
    assert ("toy.ledger" in left) == (place > EXPECTED.index("sqlite3.connect toy.ledger"))
    assert ("aside" in left) == (EXPECTED.index("os.mkdir aside") < place <= EXPECTED.index("os.rename aside -> out"))
    assert ("out/data" in left) == (place > EXPECTED.index("os.rename aside -> out"))
    assert ("scratch" in left) == (place > EXPECTED.index("os.mkdir scratch"))


def test_a_charge_counts_from_its_commit_on(tmp_path):
    kept = {}
    for name in ("sql COMMIT toy.ledger", "Source"):
        left_after(EXPECTED.index(name), tmp_path / name)
        with sqlite3.connect(tmp_path / name / "toy.ledger") as ledger:
            kept[name] = ledger.execute("SELECT count(*) FROM charges").fetchone()[0]
        ledger.close()
    assert kept == {"sql COMMIT toy.ledger": 0, "Source": 1}


def test_a_ledger_can_be_killed_inside_its_charge(tmp_path):
    event = Event(MetricNoise(0.1, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC)
    names = count_places(lambda: Ledger(tmp_path / "r.ledger").charge(event), tmp_path)
    assert any(name.startswith("sql INSERT") for name in names)
    assert any(name.startswith("sql COMMIT") for name in names)


def test_a_place_that_is_never_reached_kills_nobody(tmp_path):
    assert run_killed(lambda: toy_release(tmp_path), tmp_path, len(EXPECTED)) == 0
    assert (tmp_path / "out").is_dir()


def test_other_folders_and_reading_are_no_places(tmp_path):
    (tmp_path / "in").write_text("text")
    (tmp_path / "inner").mkdir()

    def outside() -> None:
        (tmp_path / "in").read_text()
        (tmp_path / "other").mkdir()
        (tmp_path / "inner-not").mkdir()

    assert count_places(outside, tmp_path / "inner") == []


def test_relative_paths_and_links_to_the_folder_count(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)

    def write() -> None:
        Path("real/a").write_text("a")
        Path("link/b").write_text("b")
        Path("real/a").unlink()

    assert count_places(write, tmp_path / "real") == ["open a", "open b", "os.remove a"]


def test_a_removed_tree_is_named_in_full(tmp_path):
    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/deep/leaf").touch()
    names = count_places(lambda: shutil.rmtree(tmp_path / "tree"), tmp_path)
    assert names == ["shutil.rmtree tree", "os.remove tree/deep/leaf", "os.rmdir tree/deep", "os.rmdir tree"]


def test_the_status_of_the_call_comes_back(tmp_path, capfd):
    def fail() -> None:
        raise ValueError("as planned")

    assert run_killed(lambda: sys.exit(7), tmp_path, 0) == 7
    assert run_killed(lambda: sys.exit(), tmp_path, 0) == 0
    assert run_killed(fail, tmp_path, 0) == 1
    assert "as planned" in capfd.readouterr().err
    with pytest.raises(AssertionError, match="status 1"):
        count_places(fail, tmp_path)


def test_the_test_runner_itself_is_not_watched(tmp_path):
    fsync = os.fsync
    count_places(lambda: toy_release(tmp_path), tmp_path)
    assert os.fsync is fsync
