"""The engine of studies: cells run once, survive a kill, run again when anything they depend on changes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from textveil.core.errors import BadInput, UnknownName
from textveil.reproduce.cells import Cell, Kind, Store, grid, key_of
from textveil.reproduce.study import Results, Study, run

WORK = """
import os, signal
from pathlib import Path

def note(log, seed, **_):
    with open(log, "a") as file:
        file.write(f"{seed}\\n")

def square(data, *, log, seed, **rest):
    note(log, seed)
    return {"value": seed * seed}

def fail_on_two(data, *, log, seed):
    note(log, seed)
    if seed == 2:
        raise ValueError("a private sentence")
    return {"value": seed}

def die_on_two(data, *, log, seed):
    note(log, seed)
    if seed == 2 and not Path(log + ".second").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": seed}
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A module that worker processes can import too."""
    (tmp_path / "study_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("study_work", None)
    import study_work

    yield study_work
    sys.modules.pop("study_work", None)


def study_of(kinds: dict[str, Kind], cells: list[Cell]) -> Study:
    return Study("99", "A test", kinds, lambda scale: cells, {"some": tuple(kinds)[:1]}, {}, lambda results: [])


def seeds_run(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_a_cell_runs_once(work, tmp_path):
    log = tmp_path / "log"
    cells = grid("square", log=[str(log)], seed=[1, 2, 3])
    study, store = study_of({"square": Kind(work.square)}, cells), Store(tmp_path / "store")
    first = run(study, cells, store=store)
    second = run(study, cells, store=store)
    assert sorted(seeds_run(log)) == [1, 2, 3]
    assert (first.kept, second.kept) == (0, 3)
    assert first.results == second.results
    assert [r["value"] for r in second.results.values()] == [1, 4, 9]


def test_what_changes_a_cell_runs_it_again(work, tmp_path):
    log = tmp_path / "log"
    store, kind = Store(tmp_path / "store"), Kind(work.square)
    cell = Cell.of("square", log=str(log), seed=1)

    def go(kind: Kind, cell: Cell, data: Path | None = None) -> int:
        before = len(seeds_run(log))
        run(study_of({"square": kind}, [cell]), [cell], store=store, data=data)
        return len(seeds_run(log)) - before

    assert go(kind, cell) == 1
    assert go(kind, cell) == 0
    assert go(kind, Cell.of("square", log=str(log), seed=1, other=2)) == 1  # a parameter
    assert go(Kind(work.square, version=2), cell) == 1  # the code
    data = tmp_path / "data"
    (data / "texts").mkdir(parents=True)
    (data / "texts" / "a.txt").write_text("one")
    reads = Kind(work.square, needs=("texts",))
    assert go(reads, cell, data) == 1
    assert go(reads, cell, data) == 0
    (data / "texts" / "a.txt").write_text("two!")  # the data
    assert go(reads, cell, data) == 1


def test_two_papers_never_share_a_key():
    cell, kind = Cell.of("a", seed=1), Kind(print)
    assert key_of("01", cell, kind, None) != key_of("02", cell, kind, None)


def test_changed_code_is_a_new_key_and_a_changed_sentence_is_not(work, tmp_path):
    cell, kind, module = Cell.of("square", seed=1), Kind(work.square), tmp_path / "study_work.py"
    before = key_of("99", cell, kind, None)
    module.write_text(WORK.replace("def square", "# why\ndef square").replace("seed):", "seed):\n    'Says so.'"))
    assert key_of("99", cell, kind, None) == before
    module.write_text(WORK.replace("seed * seed", "seed**3"))
    assert key_of("99", cell, kind, None) != before


def test_the_key_sees_what_a_cell_imports_of_its_study():
    from textveil.reproduce import study_of as paper
    from textveil.reproduce.code_hash import _modules_behind

    modules = {name for name, _ in _modules_behind(paper("01").kinds["attacks"].function)}
    assert {f"textveil.reproduce.paper01.{name}" for name in ("attacks", "data", "models", "states")} <= modules
    assert not any(name.endswith((".measures", ".figures", ".study")) for name in modules)  # judging is no running


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_cell_is_named_and_the_others_are_kept(work, tmp_path, jobs):
    log = tmp_path / "log"
    cells = grid("fail", log=[str(log)], seed=[1, 2, 3])
    study, store = study_of({"fail": Kind(work.fail_on_two)}, cells), Store(tmp_path / "store")
    done = run(study, cells, store=store, jobs=jobs)
    assert [c.parameters["seed"] for c in done.failed] == [2]
    assert [r["value"] for r in done.results.values()] == [1, 3]
    (why,) = done.failed.values()
    assert "ValueError in study_work.py" in why
    assert "private" not in why  # an error's own words may quote the data
    run(study, cells, store=store)
    assert sorted(seeds_run(log)) == [1, 2, 2, 3]  # only the failed one again


def test_workers_give_the_same_results(work, tmp_path):
    log = str(tmp_path / "log")
    cells = grid("square", log=[log], seed=range(5))
    study = study_of({"square": Kind(work.square)}, cells)
    alone = run(study, cells, store=Store(tmp_path / "a"))
    several = run(study, cells, store=Store(tmp_path / "b"), jobs=2)
    assert list(alone.results.items()) == list(several.results.items())


def test_a_worker_that_dies_fails_its_cell_only_until_the_next_run(work, tmp_path):
    log = tmp_path / "log"
    cells = grid("die", log=[str(log)], seed=[1, 2])
    study, store = study_of({"die": Kind(work.die_on_two)}, cells), Store(tmp_path / "store")
    done = run(study, cells, store=store, jobs=2)
    assert any("died" in why for why in done.failed.values())
    Path(f"{log}.second").touch()
    again = run(study, cells, store=store, jobs=2)
    assert not again.failed
    assert len(again.results) == 2


def test_a_killed_run_goes_on_where_it_was(work, tmp_path):
    log = tmp_path / "log"
    script = tmp_path / "killed.py"
    script.write_text(
        textwrap.dedent(f"""
        import study_work
        from textveil.reproduce.cells import Kind, Store, grid
        from textveil.reproduce.study import Study, run
        cells = grid("die", log=[{str(log)!r}], seed=[1, 2, 3])
        study = Study("99", "", {{"die": Kind(study_work.die_on_two)}}, lambda s: cells, {{}}, {{}}, lambda r: [])
        run(study, cells, store=Store({str(tmp_path / "store")!r}))
        """)
    )
    killed = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True)
    assert killed.returncode == -9
    Path(f"{log}.second").touch()
    finished = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True)
    assert finished.returncode == 0, finished.stderr.decode()
    assert seeds_run(log) == [1, 2, 2, 3]  # 1 was kept; 2 was under way when the run was killed


def test_timed_cells_come_last(work, tmp_path):
    log = str(tmp_path / "log")
    cells = [Cell.of("timed", log=log, seed=1), Cell.of("square", log=log, seed=2)]
    study = study_of({"timed": Kind(work.square, alone=True), "square": Kind(work.square)}, cells)
    done = run(study, cells, store=Store(tmp_path / "store"))
    assert seeds_run(Path(log)) == [2, 1]
    assert list(done.results) == cells  # but the plan's order is kept


def test_a_damaged_result_counts_as_absent(tmp_path):
    store, cell = Store(tmp_path), Cell.of("a", seed=1)
    key = key_of("99", cell, Kind(print), None)
    store.put(key, cell, {"x": 1}, 0.5)
    assert store.get(key)["result"] == {"x": 1}
    next(tmp_path.rglob("*.json")).write_text('{"result": ')
    assert store.get(key) is None


def test_the_data_must_be_there(tmp_path):
    kind = Kind(print, needs=("texts",))
    with pytest.raises(BadInput, match="--data"):
        key_of("99", Cell.of("a"), kind, None)
    with pytest.raises(BadInput, match="no folder 'texts'"):
        key_of("99", Cell.of("a"), kind, tmp_path)


def test_scales_and_parts_are_checked():
    study = study_of({"a": Kind(print), "b": Kind(print)}, [Cell.of("a"), Cell.of("b")])
    assert [c.kind for c in study.cells("small", "some")] == ["a"]
    with pytest.raises(UnknownName, match="there are: small, full"):
        study.cells("smal")
    with pytest.raises(UnknownName, match="some"):
        study.cells("small", "sum")


def test_results_are_asked_by_parameters():
    results = Results({cell: {"x": cell.parameters["seed"]} for cell in grid("a", seed=[1, 2], t=[0, 1])})
    assert [f.result["x"] for f in results.of("a", t=1)] == [1, 2]
    assert results.of("b") == []
