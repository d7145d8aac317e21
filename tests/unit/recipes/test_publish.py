"""The one way out: what it takes to enter, what may leave, and what stays after each kind of end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, BadInput, BudgetExceeded, Event, MetricNoise, Stated, Unit
from textveil.core.facts import Facts
from textveil.recipes.publish import StoppedRun, private_file, publish, unfinished_folder

EVENT = Event(MetricNoise(0.5, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC, mechanism="words.test")


def journey(folder: Path, *, stop: BaseException | None = None, name: str = "data.txt", seed=None, text="tea"):
    """A release of one file; `stop` is raised when a part of the work is done."""
    with publish(folder / "out", "test", ledger=folder / "l.ledger", seed=seed) as publication:
        mark = publication.account.fingerprint().update(text).hexdigest()
        paid = publication.account.charge(EVENT, data=mark, binding=publication.bound(text_length=len(text)))
        part = publication.work("part")
        resumed = part.exists()
        part.write_text("drawn")
        if stop is not None:
            raise stop
        publication.file(name).write_text("drawn\n")
        release = publication.finish(paid, "words.test", {}, name, facts=Facts(making=("drawn",)))
    return resumed, publication.result(release)


def charges(folder: Path) -> int:
    return len(Ledger(folder / "l.ledger").entries())


def test_a_release(tmp_path):
    resumed, result = journey(tmp_path)
    assert not resumed
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["card.html", "data.txt", "release.json"]
    manifest = json.loads((tmp_path / "out/release.json").read_text())
    assert (manifest["format"], manifest["entry"], manifest["head"]) == (
        2,
        result["entry"],
        Ledger(tmp_path / "l.ledger").head,
    )
    assert "was made" in result["notices"][0]
    assert not unfinished_folder(tmp_path / "out").exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), StoppedRun("workers died")], ids=["ctrl-c", "workers"])
def test_a_stopped_run_keeps_its_work_and_its_charge(tmp_path, stop):
    with pytest.raises(type(stop)):
        journey(tmp_path, stop=stop)
    assert not (tmp_path / "out").exists()
    resumed, _ = journey(tmp_path)
    assert resumed and charges(tmp_path) == 1


def test_a_failed_run_leaves_nothing_but_its_charge(tmp_path):
    with pytest.raises(RuntimeError):
        journey(tmp_path, stop=RuntimeError("boom"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["l.ledger"]
    journey(tmp_path)
    assert charges(tmp_path) == 2


def test_a_seeded_run_is_never_taken_up(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        journey(tmp_path, stop=KeyboardInterrupt(), seed=5)
    assert not unfinished_folder(tmp_path / "out").exists()
    resumed, result = journey(tmp_path, seed=5)
    assert not resumed and result["draft"]


def test_another_command_leaves_an_unfinished_run_alone(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        journey(tmp_path, stop=KeyboardInterrupt())
    with pytest.raises(BadInput, match="another command"):
        journey(tmp_path, text="coffee")
    with pytest.raises(BadInput, match="another command"):
        journey(tmp_path, seed=1)
    resumed, _ = journey(tmp_path)
    assert resumed and charges(tmp_path) == 1


def test_only_registered_names_leave(tmp_path):
    with pytest.raises(BadInput, match=r"would leave: notes\.txt"):
        journey(tmp_path, name="notes.txt")
    assert not (tmp_path / "out").exists()


def test_half_written_files_are_purged(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        journey(tmp_path, stop=KeyboardInterrupt())
    folder = unfinished_folder(tmp_path / "out")
    (folder / "work/.part-1.tmp").write_text("half")
    (folder / "leave").mkdir(exist_ok=True)
    (folder / "leave/data.old").write_text("a draw that was not finished")
    (folder / "stray").write_text("?")
    with pytest.raises(KeyboardInterrupt):
        journey(tmp_path, stop=KeyboardInterrupt())
    assert {p.name for p in folder.rglob("*")} == {"journal.jsonl", "work", "leave", "part"}
    journey(tmp_path)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["card.html", "data.txt", "release.json"]


def test_out_must_be_free_and_writable(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("x")
    with pytest.raises(BadInput, match="exists already"):
        journey(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"), publish(tmp_path / "file/out", "test"):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "out"]


def test_an_empty_folder_is_free(tmp_path):
    (tmp_path / "out").mkdir()
    journey(tmp_path)
    assert (tmp_path / "out/release.json").is_file()


def test_private_files_are_beside_it_for_its_owner_only(tmp_path):
    path = private_file(tmp_path / "out", "evidence.json")
    assert path == tmp_path / "out.private/evidence.json"
    assert os.stat(path.parent).st_mode & 0o777 == 0o700


def test_private_files_of_the_folder_one_stands_in(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert private_file(Path("."), "evidence.json") == tmp_path / "out.private/evidence.json"


STEP = Event(Stated(1.0), Unit.DOCUMENT, Adjacency.REPLACE, mechanism="test.steps")


def run_two_steps(folder: Path) -> None:
    """Two charges; the first one's output is stored."""
    with publish(folder / "out", "steps", ledger=folder / "notes.ledger") as publication:
        account = publication.account
        account.charge(STEP, data="11" * 32, step="first")
        publication.work("first").write_text("done")
        paid = account.charge(STEP, data="11" * 32, step="second")
        publication.file("data.txt").write_text("done\n")
        publication.finish(paid, "test.steps", {}, "data.txt")


def test_a_budget_that_ends_in_the_middle_of_a_run_costs_no_work(tmp_path):
    ledger = Ledger(tmp_path / "notes.ledger")
    ledger.allow(unit="document", epsilon=1.5)
    with pytest.raises(BudgetExceeded):
        run_two_steps(tmp_path)
    assert (unfinished_folder(tmp_path / "out") / "work" / "first").exists()
    ledger.allow(unit="document", epsilon=2.0)
    run_two_steps(tmp_path)
    assert len(ledger.entries()) == 2
    assert not unfinished_folder(tmp_path / "out").exists()


def test_a_budget_that_covers_nothing_leaves_nothing(tmp_path):
    Ledger(tmp_path / "notes.ledger").allow(unit="document", epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        run_two_steps(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.ledger"]


@pytest.mark.parametrize("name", [".out.unfinished", "out.private"])
def test_a_link_in_the_place_of_a_working_folder_is_refused(tmp_path, name):
    """Working folders are closed to others, emptied and removed: never what a link leads to."""
    (tmp_path / "others").mkdir(mode=0o755)
    (tmp_path / "others/letter").write_text("keep")
    (tmp_path / name).symlink_to("others")
    with pytest.raises(BadInput, match="is a link"):
        journey(tmp_path) if name == ".out.unfinished" else private_file(tmp_path / "out", "evidence.json")
    assert (tmp_path / "others/letter").read_text() == "keep"
    assert (tmp_path / "others").stat().st_mode & 0o777 == 0o755
    assert not (tmp_path / "l.ledger").exists()


@pytest.mark.parametrize("name", [".out.unfinished", "out.private"])
def test_a_working_folder_of_somebody_else_is_refused(tmp_path, name, monkeypatch):
    """Whoever owns the folder can read what is in it, whatever its mode."""
    (tmp_path / name).mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / name).stat().st_uid + 1)
    with pytest.raises(BadInput, match="belongs to another user"):
        journey(tmp_path) if name == ".out.unfinished" else private_file(tmp_path / "out", "evidence.json")
    assert not (tmp_path / "l.ledger").exists()


@pytest.mark.parametrize("out", ["", ".", "/", "..", "sub/.."])
def test_out_needs_a_name_of_its_own(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="needs a name of its own"), publish(Path(out), "test", ledger=Path("l.ledger")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_another_version_is_not_taken_up(tmp_path, monkeypatch):
    """Half of the output would have been drawn by code that the release does not name."""
    with pytest.raises(KeyboardInterrupt):
        journey(tmp_path, stop=KeyboardInterrupt())
    monkeypatch.setattr("textveil.__version__", "9.9.9")
    with pytest.raises(BadInput, match="another command"):
        journey(tmp_path)
    assert charges(tmp_path) == 1


@pytest.mark.parametrize("ledger", ["out", "out/l.ledger", ".out.unfinished/l.ledger", "link/l.ledger"])
def test_a_ledger_in_the_place_of_the_release_is_refused(tmp_path, ledger):
    """It would be removed with the unfinished work, and the charge with it, or leave with the release."""
    (tmp_path / "link").symlink_to("out")
    where = tmp_path / ledger
    with pytest.raises(BadInput, match="a ledger cannot stand"), publish(tmp_path / "out", "test", ledger=where):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["link"]


def test_the_name_of_a_file_cannot_steer_a_terminal(tmp_path):
    with publish(tmp_path / "out", "veil a\nb\x1b[31m.txt", ledger=tmp_path / "l.ledger") as publication:
        paid = publication.account.charge(EVENT, data="11" * 32)
        publication.file("data.txt").write_text("drawn\n")
        publication.finish(paid, "words.test", {}, "data.txt")
    (entry,) = Ledger(tmp_path / "l.ledger").entries()
    assert entry.note.startswith("veil a?b?[31m.txt")
